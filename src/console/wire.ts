/**
 * The types that the console's server and its web app exchange, from the schemas in wire/. The web app imports this file, and
 * nothing else of `src`.
 */
import type { Wire } from "../schema/index.ts";
import type * as details from "./wire/details.ts";
import type { lanes, roles, rowKinds } from "./wire/names.ts";
import type * as overviews from "./wire/overviews.ts";
import type * as rows from "./wire/rows.ts";
import type * as session from "./wire/session.ts";

export { ledgerEventTypes } from "../ledger/event-types/index.ts";
export type { OperationName, OperationRequest } from "../operate/request/index.ts";
export { lanes, laneTitles, roles, rowKinds } from "./wire/names.ts";

export type Role = (typeof roles)[number];
export type Lane = (typeof lanes)[number];
export type RowKind = (typeof rowKinds)[number];

export type Session = Wire<typeof session.session>;
export type OperationResult = Wire<typeof session.operationResult>;

export type IncidentRow = Wire<typeof rows.incidentRow>;
export type ExecutionRow = Wire<typeof rows.executionRow>;
export type ApprovalRow = Wire<typeof rows.approvalRow>;
export type PauseRow = Wire<typeof rows.pauseRow>;
export type TargetRow = Wire<typeof rows.targetRow>;
export type TaskRow = Wire<typeof rows.taskRow>;
export type NoticeRow = Wire<typeof rows.noticeRow>;
export type Row = Wire<typeof rows.row>;
export type RowFilter = Wire<typeof rows.rowFilter>;
export type RowPage = Wire<typeof rows.rowPage>;
export type Now = Wire<typeof rows.now>;
export type Changes = Wire<typeof rows.changes>;
export type Beat = Wire<typeof rows.beat>;

export type PolicyCheck = Wire<typeof details.policyCheck>;
export type TimelineEvent = Wire<typeof details.timelineEvent>;
export type IncidentDetail = Wire<typeof details.incidentDetail>;
export type TargetDetail = Wire<typeof details.targetDetail>;
export type ApprovalDetail = Wire<typeof details.approvalDetail>;
export type ExecutionDetail = Wire<typeof details.executionDetail>;
export type LogLine = Wire<typeof details.logLine>;
export type LogProblem = Wire<typeof details.logProblem>;

export type Lock = Wire<typeof overviews.lock>;
export type Storm = Wire<typeof overviews.storm>;
export type Catalog = Wire<typeof overviews.catalog>;
export type WorkflowParameter = Wire<typeof overviews.workflowParameter>;
export type RuleTest = Wire<typeof overviews.ruleTest>;
export type RuleTestResult = Wire<typeof overviews.ruleTestResult>;
export type LedgerPage = Wire<typeof overviews.ledgerPage>;
export type LedgerChains = Wire<typeof overviews.ledgerChains>;

/** RFC 9457, as application/problem+json. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** What to do. */
  readonly hint?: string;
  /** Each problem of a request. */
  readonly problems?: readonly string[];
  /** For 409: the object as it is now. */
  readonly current?: Row;
  /** For 401: the ways to log in. */
  readonly logIn?: readonly LogInWay[];
}

/** A one-time link, an identity provider, or a token of the API server. */
export type LogInWay = "link" | "oidc" | "token";
