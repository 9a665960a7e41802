import { listLocks } from "../../coordination/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { z } from "../../schema/index.ts";
import {
  type LedgerQuery,
  type LedgerReader,
  limitReads,
  type NamedObject,
  type ReadContext,
  readApproval,
  readConsoleCatalog,
  readExecution,
  readIncident,
  readLedgerChains,
  readLedgerPage,
  readRuleTest,
  readStorm,
  readTarget,
  SharedRead,
} from "../read/index.ts";
import { ruleTest } from "../wire/overviews.ts";
import { type LedgerChains, type RowKind, type RuleTest, rowKinds } from "../wire.ts";
import { type ApiCall, type ApiRoute, ProblemError } from "./api-route.ts";
import { checkReadable } from "./row-routes.ts";
import { ledgerQuery, named, type ResponseName } from "./schemas.ts";

/** The pages of single objects, and overviews. `contextFor` gives a read the rights of its caller. */
export function readRoutes(contextFor: (client: KubeClient) => ReadContext): readonly ApiRoute[] {
  const get = (
    path: string,
    result: ResponseName,
    { needs = [], ...route }: ReadDescription,
    read: (context: ReadContext, call: ApiCall) => Promise<unknown>,
  ): ApiRoute => ({
    method: "GET",
    path: `/api/v1/${path}`,
    access: "viewer",
    result,
    ...(route.params && { problems: { 404: "There is no object of this name." } }),
    ...route,
    handle(call: ApiCall) {
      const { client, readableKinds } = call.viewer;
      for (const kind of needs) checkReadable(call.viewer, kind);
      return found(read(limitReads(contextFor(client), readableKinds), call));
    },
  });

  // The ledger is the same for every viewer.
  const chains = new SharedRead<LedgerChains>();
  return [
    get("incidents/:namespace/:name", "IncidentDetail", { summary: "One incident.", params: named }, (context, call) =>
      readIncident(call.params as NamedObject, context),
    ),
    get(
      "executions/:namespace/:name",
      "ExecutionDetail",
      { summary: "One execution.", params: named },
      (context, call) => readExecution(call.params as NamedObject, context),
    ),
    get("approvals/:namespace/:name", "ApprovalDetail", { summary: "One approval.", params: named }, (context, call) =>
      readApproval(call.params as NamedObject, context),
    ),
    get(
      "targets/detail",
      "TargetDetail",
      { summary: "One target.", query: z.strictObject({ target: z.string() }) },
      (context, { query }) => readTarget((query as { readonly target: string }).target, context),
    ),
    get("locks", "Locks", { summary: "Locks, with holders and waiters." }, ({ client, locksIn }) =>
      listLocks(client, locksIn),
    ),
    get(
      "storm",
      "Storm",
      {
        summary: "The signals of a period, and how few runs they led to.",
        needs: ["incidents"],
        query: z.strictObject({ window: z.string().default("1h") }),
      },
      (context, { query }) => readStorm((query as { readonly window: string }).window, context),
    ),
    get("catalog", "Catalog", { summary: "Workflows and rules, and their problems." }, (context) =>
      readConsoleCatalog(context),
    ),
    get(
      "ledger",
      "LedgerPage",
      { summary: "Events of the ledger, newest first.", needs: rowKinds, query: ledgerQuery },
      (context, { query }) =>
        withLedger(context, (ledger) => readLedgerPage(ledger, query as LedgerQuery, context.clock.wallMs())),
    ),
    get(
      "ledger/chains",
      "LedgerChains",
      { summary: "Whether the chains of the ledger are complete.", needs: rowKinds },
      (context) => chains.get(context.clock, () => withLedger(context, readLedgerChains)),
    ),
    ruleTestRoute(contextFor),
  ];
}

function ruleTestRoute(contextFor: (client: KubeClient) => ReadContext): ApiRoute {
  return {
    method: "POST",
    path: "/api/v1/rules/test",
    summary: "Test what gateway, rules and policy would do with the payload of a source. Changes nothing.",
    access: "viewer",
    body: ruleTest,
    result: "RuleTestResult",
    handle: ({ body, viewer }) => readRuleTest(body as RuleTest, contextFor(viewer.client)),
  };
}

interface ReadDescription {
  readonly summary: string;
  /** The kinds that the caller must be allowed to list. */
  readonly needs?: readonly RowKind[];
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
}

async function found<T>(reading: Promise<T | undefined>): Promise<T> {
  const value = await reading;
  if (value === undefined) {
    throw new ProblemError(404, "There is no object of this name, or it was removed.", {
      hint: "The ledger keeps its history.",
    });
  }
  return value;
}

async function withLedger<T>(context: ReadContext, read: (ledger: LedgerReader) => Promise<T>): Promise<T> {
  const ledger = await context.openLedger();
  if (!ledger) throw new ProblemError(503, "The ledger cannot be read here.");
  try {
    return await read(ledger);
  } finally {
    await ledger.close();
  }
}
