import { listLocks } from "../../coordination/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { z } from "../../schema/index.ts";
import {
  type LedgerQuery,
  type LedgerReader,
  type NamedObject,
  type ReadContext,
  readConsoleCatalog,
  readExecution,
  readIncident,
  readLedgerChains,
  readLedgerPage,
  readRuleTest,
  readStorm,
  readTarget,
} from "../read/index.ts";
import { ruleTest } from "../wire/overviews.ts";
import type { RuleTest } from "../wire.ts";
import { type ApiCall, type ApiRoute, ProblemError } from "./api-route.ts";
import { ledgerQuery, named, type ResponseName } from "./schemas.ts";

/** The pages of single objects, and overviews. `contextFor` gives a read the rights of its caller. */
export function readRoutes(contextFor: (client: KubeClient) => ReadContext): readonly ApiRoute[] {
  const get = (
    path: string,
    result: ResponseName,
    about: { readonly summary: string; readonly params?: z.ZodObject; readonly query?: z.ZodObject },
    read: (context: ReadContext, call: ApiCall) => Promise<unknown>,
  ): ApiRoute => ({
    method: "GET",
    path: `/api/v1/${path}`,
    access: "viewer",
    result,
    ...about,
    handle: (call: ApiCall) => found(read(contextFor(call.viewer.client), call)),
  });

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
      { summary: "Events of the ledger, newest first.", query: ledgerQuery },
      (context, { query }) =>
        withLedger(context, (ledger) => readLedgerPage(ledger, query as LedgerQuery, context.clock.wallMs())),
    ),
    get("ledger/chains", "LedgerChains", { summary: "Whether the chains of the ledger are complete." }, (context) =>
      withLedger(context, readLedgerChains),
    ),
    {
      method: "POST",
      path: "/api/v1/rules/test",
      summary: "Test what gateway, rules and policy would do with the payload of a source. Changes nothing.",
      access: "viewer",
      body: ruleTest,
      result: "RuleTestResult",
      handle: ({ body, viewer }) => readRuleTest(body as RuleTest, contextFor(viewer.client)),
    },
  ];
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
