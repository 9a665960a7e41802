/** What the console's server and its web app exchange. The web app imports these types, and nothing else of `src`. */

export const roles = ["viewer", "operator", "admin"] as const;
export type Role = (typeof roles)[number];

export const operationNames = ["ack", "approve", "reject", "pause", "resume", "cancel", "run", "retry"] as const;
export type OperationName = (typeof operationNames)[number];

/** GET /api/v1/session: who calls, and what the caller may do. */
export interface Session {
  readonly user: string;
  readonly role: Role;
  /** The operations the caller may perform. The web app shows no other. */
  readonly operations: readonly OperationName[];
  /** The kinds of rows that the caller may read, and so ask the stream for. */
  readonly kinds: readonly RowKind[];
  /** Of the program. */
  readonly version: string;
  readonly mode: "embedded" | "cluster";
  readonly serverTime: string;
}

/** The lanes of the page Now, in the order in which it shows them. */
export const lanes = [
  "needsYou",
  "running",
  "queued",
  "coolingDown",
  "backingOff",
  "paused",
  "waiting",
  "done",
] as const;
export type Lane = (typeof lanes)[number];

/** The kinds of rows: GET /api/v1/rows/KIND. */
export const rowKinds = ["incidents", "executions", "approvals", "pauses", "targets", "tasks", "notices"] as const;
export type RowKind = (typeof rowKinds)[number];

interface RowBase {
  readonly kind: RowKind;
  /** NAMESPACE/NAME: unique among rows of this kind. */
  readonly key: string;
  /** Shortened as the command line prints it. */
  readonly name: string;
  /** The resourceVersion of the object: sent back with an operation as `ifVersion`. */
  readonly version: string;
  readonly createdAt: string;
}

export interface IncidentRow extends RowBase {
  readonly kind: "incidents";
  readonly lane: Lane;
  readonly phase: string;
  readonly signal: string;
  readonly severity: string;
  /** Of the signal. */
  readonly subject: string;
  readonly target?: string;
  readonly workflow?: string;
  readonly rule?: string;
  /** The reason for the block, as people read it. */
  readonly reason?: string;
  /** Cut at 200 characters. */
  readonly message?: string;
  readonly until?: string;
  /** The execution that holds the target, or that this incident runs or follows: NAMESPACE/NAME. */
  readonly execution?: string;
  /** In the queue of the target, from 1. */
  readonly position?: number;
  readonly attempt?: { readonly number: number; readonly of: number };
  /** The approval that is waited for: NAMESPACE/NAME. */
  readonly approval?: string;
  /** The operations that would move this incident on, the best first. */
  readonly next: readonly OperationName[];
  readonly seen: number;
  readonly lastSeenAt?: string;
  readonly outcome?: string;
  readonly closedAt?: string;
}

export interface ExecutionRow extends RowBase {
  readonly kind: "executions";
  readonly phase: string;
  readonly workflow: string;
  readonly target: string;
  readonly engine?: string;
  readonly reason?: string;
  readonly message?: string;
  /** NAMESPACE/NAME. */
  readonly incident?: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
}

export interface ApprovalRow extends RowBase {
  readonly kind: "approvals";
  readonly workflow: string;
  readonly target: string;
  readonly why: string;
  readonly incident?: string;
  readonly requiredBy: string;
  readonly decision?: string;
  readonly decidedBy?: string;
  readonly decidedAt?: string;
}

export interface PauseRow extends RowBase {
  readonly kind: "pauses";
  /** As people read it: "everything", "namespace payment", "target node/worker-1". */
  readonly scope: string;
  readonly author: string;
  readonly reason: string;
  readonly until?: string;
  readonly endedAt?: string;
  /** Open incidents that it holds back now. */
  readonly suppressed: number;
}

export interface TargetRow extends RowBase {
  readonly kind: "targets";
  readonly target: string;
  /** The execution that holds it: NAMESPACE/NAME. */
  readonly holder?: string;
  /** The version of the record while it is held: the fence of every later holder is larger. */
  readonly fence?: string;
  readonly heldSince?: string;
  /** Executions and incidents that wait for it. */
  readonly waiting: number;
}

export interface TaskRow extends RowBase {
  readonly kind: "tasks";
  readonly phase: string;
  readonly type: string;
  readonly project: string;
  readonly reference: string;
  readonly author: string;
  readonly message?: string;
  readonly endedAt?: string;
}

export interface NoticeRow extends RowBase {
  readonly kind: "notices";
  readonly phase: string;
  readonly subject: string;
  readonly incident?: string;
  readonly channels: readonly string[];
}

export type Row = IncidentRow | ExecutionRow | ApprovalRow | PauseRow | TargetRow | TaskRow | NoticeRow;

/** Filters of rows, as in the query string. Several values of one filter are separated by commas. */
export interface RowFilter {
  readonly lane?: string;
  readonly phase?: string;
  readonly reason?: string;
  readonly target?: string;
  readonly workflow?: string;
  readonly namespace?: string;
  /** A duration such as 24h: rows that changed within it. */
  readonly since?: string;
  /** Words, all of which a row has. */
  readonly search?: string;
}

/** GET /api/v1/rows/KIND?limit=…&after=…: one page, newest first. */
export interface RowPage {
  /** Of the projection: a stream from here misses nothing. */
  readonly version: string;
  readonly total: number;
  readonly rows: readonly Row[];
  /** Given back as `after`, it asks for the next page. */
  readonly next?: string;
}

/** GET /api/v1/now */
export interface Now {
  readonly version: string;
  readonly lanes: readonly { readonly lane: Lane; readonly total: number; readonly rows: readonly IncidentRow[] }[];
  readonly pauses: readonly PauseRow[];
  /** Approvals that wait for an answer and belong to no incident; empty if the caller may not read them. */
  readonly approvals: readonly ApprovalRow[];
  /** Executions of no incident that have not ended. */
  readonly executions: readonly ExecutionRow[];
}

/**
 * GET /api/v1/stream?kinds=incidents,…: Server-Sent Events. `id` is the version of the projection; the browser sends the
 * last one back as Last-Event-ID. Event `changes` carries Changes; `reset` says that the id is too old, and the page reads its rows again;
 * `beat` comes at least every 2 s and carries Beat.
 */
export interface Changes {
  readonly changed: readonly Row[];
  readonly removed: readonly { readonly kind: RowKind; readonly key: string }[];
}

export interface Beat {
  readonly serverTime: string;
  /** When the oldest of the watches behind the projection was last known to be current. */
  readonly currentAt: string;
}

/** One check of the policy, as `why` explains it. */
export interface PolicyCheck {
  readonly name: string;
  readonly passed: boolean;
  readonly isDeciding: boolean;
  readonly evidence: string;
  readonly clearsAt?: string;
  readonly clears?: string;
}

/** GET /api/v1/incidents/NAMESPACE/NAME */
export interface IncidentDetail {
  readonly row: IncidentRow;
  /** The message of the row at its full length. */
  readonly message?: string;
  readonly checks: readonly PolicyCheck[];
  /** The lines of `interlock why`. */
  readonly why: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly series: readonly { readonly firingAt: string; readonly resolvedAt?: string; readonly severity?: string }[];
  readonly executions: readonly ExecutionRow[];
  readonly followers: readonly IncidentRow[];
  readonly notices: readonly NoticeRow[];
  /** Signals, decisions, runs and acknowledgements, oldest first. */
  readonly events: readonly TimelineEvent[];
}

export interface TimelineEvent {
  readonly at: string;
  /** The end, for what lasts. */
  readonly until?: string;
  readonly lane: "signals" | "decisions" | "runs" | "people" | "pauses";
  readonly title: string;
  readonly detail?: string;
  /** The number of signals that it stands for. */
  readonly signals?: number;
  readonly tone: "good" | "bad" | "wait" | "neutral";
  /** A path of the console. */
  readonly link?: string;
}

/** GET /api/v1/targets/detail?target=TARGET */
export interface TargetDetail {
  readonly row?: TargetRow;
  readonly target: string;
  readonly events: readonly TimelineEvent[];
  readonly workflows: readonly {
    readonly workflow: string;
    readonly isAllowed: boolean;
    readonly reason?: string;
    readonly until?: string;
    readonly checks: readonly PolicyCheck[];
  }[];
  /** The workflows that do not act on targets of this kind. */
  readonly otherWorkflows: readonly string[];
  readonly incidents: readonly IncidentRow[];
  readonly executions: readonly ExecutionRow[];
}

/** GET /api/v1/executions/NAMESPACE/NAME */
export interface ExecutionDetail {
  readonly row: ExecutionRow;
  readonly parameters: Readonly<Record<string, string>>;
  readonly image?: string;
  readonly digest?: string;
  readonly serviceAccount?: string;
  readonly fence?: string;
  readonly failure?: string;
  readonly tasks: readonly {
    readonly name: string;
    readonly phase: string;
    readonly after: readonly string[];
    readonly startedAt?: string;
    readonly endedAt?: string;
    readonly steps: readonly { readonly name: string; readonly phase: string; readonly exitCode?: number }[];
  }[];
}

/**
 * GET /api/v1/executions/NAMESPACE/NAME/logs?tail=2000: Server-Sent Events `line`; `problem` if output cannot be read; `end`
 * when there will be no more. A stream without an end was interrupted: read again, it starts at its first line.
 */
export interface LogLine {
  readonly task: string;
  readonly step: string;
  readonly text: string;
}

/** The event `problem` of that stream. */
export interface LogProblem {
  readonly message: string;
}

/** GET /api/v1/locks */
export interface Lock {
  readonly key: string;
  readonly holder?: string;
  readonly fence?: string;
  readonly since?: string;
  readonly expiresAt?: string;
  readonly waiters: number;
}

/** GET /api/v1/storm?window=1h: what became of the signals, in buckets of equal length. */
export interface Storm {
  readonly bucketSeconds: number;
  /** The start of each bucket. */
  readonly times: readonly string[];
  readonly signals: readonly number[];
  readonly incidents: readonly number[];
  readonly runs: readonly number[];
  readonly totals: {
    readonly signals: number;
    readonly deduplicated: number;
    readonly incidents: number;
    readonly followed: number;
    readonly coolingDown: number;
    readonly otherwiseBlocked: number;
    /** Neither run nor absorbed yet, such as those that wait for an approval. */
    readonly waiting: number;
    readonly runs: number;
  };
}

/** GET /api/v1/catalog */
export interface Catalog {
  readonly workflows: readonly {
    readonly id: string;
    readonly version: string;
    readonly engine: string;
    readonly description?: string;
    readonly needsApproval: boolean;
    /** The kinds of target it supports; any kind if absent. */
    readonly targetKinds?: readonly string[];
    readonly parameters: readonly WorkflowParameter[];
  }[];
  readonly rules: readonly {
    readonly name: string;
    readonly workflow: string;
    readonly observe: boolean;
    readonly source?: string;
  }[];
  readonly problems: readonly string[];
}

export const parameterTypes = ["string", "integer", "number", "boolean", "array"] as const;

/** What a form needs to ask for a parameter. Values are texts as the command line takes them: those of an array have commas between them. */
export interface WorkflowParameter {
  readonly name: string;
  readonly type: (typeof parameterTypes)[number];
  readonly required: boolean;
  readonly description?: string;
  readonly default?: string;
  /** The allowed values. */
  readonly options?: readonly string[];
  /** A regular expression. */
  readonly pattern?: string;
  readonly isSecret?: boolean;
}

/** POST /api/v1/rules/test with a body of a source, such as a notification of Alertmanager. Changes nothing. */
export interface RuleTest {
  readonly source: string;
  readonly payload: unknown;
}

export interface RuleTestResult {
  readonly signals: readonly {
    readonly signal: string;
    readonly subject?: string;
    readonly outcome: string;
    readonly rule?: string;
    readonly workflow?: string;
    readonly target?: string;
    readonly lines: readonly string[];
  }[];
}

/** The types of ledger events. */
export const ledgerTypes = [
  "incident.created",
  "incident.diagnosed",
  "incident.decided",
  "incident.recurred",
  "incident.cancelled",
  "incident.closed",
  "incident.deleted",
  "approval.requested",
  "approval.answered",
  "pause.started",
  "pause.ended",
  "signals.counted",
  "signals.truncated",
  "signal.resolved",
  "signal.refused",
  "signal.ignored",
  "execution.admitted",
  "execution.skipped",
  "execution.cancelled",
  "execution.started",
  "execution.completed",
  "execution.failed",
  "execution.deleted",
  "run.created",
  "run.cancelled",
  "target.freed",
  "target.rebuilt",
  "failure.acknowledged",
  "task.received",
  "task.ignored",
  "notice.sent",
  "notice.failed",
  "notice.digested",
  "task.paused",
  "task.started",
  "task.ended",
  "ledger.heads",
] as const;

/** GET /api/v1/ledger?search=&incident=&execution=&target=&type=&after=&limit= : newest first. */
export interface LedgerPage {
  readonly events: readonly {
    readonly id: string;
    readonly at: string;
    readonly type: string;
    readonly summary: string;
    readonly facts: Readonly<Record<string, unknown>>;
  }[];
  readonly next?: string;
}

/** GET /api/v1/ledger/chains */
export interface LedgerChains {
  readonly chains: readonly {
    readonly writer: string;
    readonly rows: number;
    readonly head: string;
    readonly state: string;
  }[];
}

/** POST /api/v1/operations/NAME */
export interface OperationRequest {
  readonly reason: string;
  /** The same key has the effect once, however often it is sent: 8 to 64 of A-Z a-z 0-9 - _ . */
  readonly key: string;
  /** Refused with 409 if the object has another version by now. */
  readonly ifVersion?: string;
  /** ack, approve, reject, cancel, retry, and resume of one pause: NAMESPACE/NAME, or a short name. */
  readonly object?: string;
  /** pause and resume: the words of the command line, such as ["namespace", "payment"]. */
  readonly scope?: readonly string[];
  /** pause: a duration such as 2h. */
  readonly for?: string;
  /** cancel: block the workflow on the target until it is acknowledged. */
  readonly block?: boolean;
  /** run */
  readonly workflow?: string;
  readonly target?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  /** run: of the execution; by default that of incidents. */
  readonly namespace?: string;
  /** run and retry: the name of an approval that covers the run. */
  readonly approval?: string;
  /** Make all checks, and change nothing. */
  readonly dryRun?: boolean;
}

export interface OperationResult {
  /** What happened, in one sentence. */
  readonly message: string;
  /** What the caller should know beyond that. */
  readonly notes: readonly string[];
  /** What was changed or made: NAMESPACE/NAME, and its kind. run and retry make an approval if the workflow requires one. */
  readonly kind?: RowKind;
  readonly object?: string;
  /** The same as a command line. */
  readonly command: string;
}

/** RFC 9457, as application/problem+json. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** What to do. */
  readonly hint?: string;
  /** Each thing that is wrong with a request. */
  readonly problems?: readonly string[];
  /** For 409: the object as it is now. */
  readonly current?: Row;
  /** For 401: how a person can log in. */
  readonly logIn?: readonly LogInWay[];
}

/** A one-time link, an identity provider, or a token of the API server. */
export type LogInWay = "link" | "oidc" | "token";
