import { anyRequest } from "../../operate/index.ts";
import { z } from "../../schema/index.ts";
import * as details from "../wire/details.ts";
import * as overviews from "../wire/overviews.ts";
import * as rows from "../wire/rows.ts";
import { operationResult, session } from "../wire/session.ts";

/** An object in the path of a route. */
export const named = z.object({ namespace: z.string().min(1), name: z.string().min(1) });

/** One page of a list. */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(100),
  after: z.string().optional(),
});

export const ledgerQuery = z.strictObject({
  search: z.string().optional(),
  incident: z.string().optional(),
  execution: z.string().optional(),
  target: z.string().optional(),
  type: z.string().optional(),
  ...pageQuery.shape,
});

/** The bodies of requests, responses and events by their names in the OpenAPI document. */
export const responseSchemas = {
  Session: session,
  Now: rows.now,
  RowPage: rows.rowPage,
  Changes: rows.changes,
  Beat: rows.beat,
  IncidentDetail: details.incidentDetail,
  TargetDetail: details.targetDetail,
  ApprovalDetail: details.approvalDetail,
  ExecutionDetail: details.executionDetail,
  LogLine: details.logLine,
  LogProblem: details.logProblem,
  Locks: z.array(overviews.lock),
  Storm: overviews.storm,
  Catalog: overviews.catalog,
  RuleTestResult: overviews.ruleTestResult,
  LedgerPage: overviews.ledgerPage,
  LedgerChains: overviews.ledgerChains,
  // Each operation has a schema of its own: `requestSchema(name)` of operate.
  OperationRequest: anyRequest,
  OperationResult: operationResult,
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type ResponseName = keyof typeof responseSchemas;
