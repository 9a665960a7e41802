import { anyRequest } from "../../operate/index.ts";
import { type Wire, z } from "../../schema/index.ts";
import {
  type Beat,
  type Catalog,
  type Changes,
  type ExecutionDetail,
  type IncidentDetail,
  type LedgerChains,
  type LedgerPage,
  type Lock,
  type LogLine,
  type LogProblem,
  lanes,
  type Now,
  type OperationRequest,
  type OperationResult,
  operationNames,
  parameterTypes,
  type Row,
  type RowFilter,
  type RowPage,
  type RuleTest,
  type RuleTestResult,
  roles,
  rowKinds,
  type Session,
  type Storm,
  type TargetDetail,
} from "../wire.ts";

/** Checks at compile time that a schema describes exactly the type of wire.ts, so that the two cannot differ. */
function describes<T>() {
  return <S extends z.ZodType>(schema: S, ..._same: Same<Wire<S>, T> extends true ? [] : ["differs from wire.ts"]): S =>
    schema;
}

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

const text = z.string();
const time = z.string().meta({ format: "date-time" });
const count = z.int().min(0);
const reference = z.string().meta({ description: "NAMESPACE/NAME" });
const texts = z.record(text, text);

const operationName = z.enum(operationNames);
export const rowKind = z.enum(rowKinds);

const session = describes<Session>()(
  z.object({
    user: text,
    role: z.enum(roles),
    operations: z.array(operationName),
    kinds: z.array(rowKind),
    version: text,
    mode: z.enum(["embedded", "cluster"]),
    serverTime: time,
  }),
);

const rowBase = { key: reference, name: text, version: text, createdAt: time };

const incidentRow = z.object({
  ...rowBase,
  kind: z.literal("incidents"),
  lane: z.enum(lanes),
  phase: text,
  signal: text,
  severity: text,
  subject: text,
  target: text.optional(),
  workflow: text.optional(),
  rule: text.optional(),
  reason: text.optional(),
  message: text.optional(),
  until: time.optional(),
  execution: reference.optional(),
  position: count.optional(),
  attempt: z.object({ number: count, of: count }).optional(),
  approval: reference.optional(),
  next: z.array(operationName),
  seen: count,
  lastSeenAt: time.optional(),
  outcome: text.optional(),
  closedAt: time.optional(),
});

const executionRow = z.object({
  ...rowBase,
  kind: z.literal("executions"),
  phase: text,
  workflow: text,
  target: text,
  engine: text.optional(),
  reason: text.optional(),
  message: text.optional(),
  incident: reference.optional(),
  startedAt: time.optional(),
  endedAt: time.optional(),
});

const approvalRow = z.object({
  ...rowBase,
  kind: z.literal("approvals"),
  workflow: text,
  target: text,
  why: text,
  incident: reference.optional(),
  requiredBy: text,
  decision: text.optional(),
  decidedBy: text.optional(),
  decidedAt: time.optional(),
});

const pauseRow = z.object({
  ...rowBase,
  kind: z.literal("pauses"),
  scope: text,
  author: text,
  reason: text,
  until: time.optional(),
  endedAt: time.optional(),
  suppressed: count,
});

const targetRow = z.object({
  ...rowBase,
  kind: z.literal("targets"),
  target: text,
  holder: reference.optional(),
  fence: text.optional(),
  heldSince: time.optional(),
  waiting: count,
});

const taskRow = z.object({
  ...rowBase,
  kind: z.literal("tasks"),
  phase: text,
  type: text,
  project: text,
  reference: text,
  author: text,
  message: text.optional(),
  endedAt: time.optional(),
});

const noticeRow = z.object({
  ...rowBase,
  kind: z.literal("notices"),
  phase: text,
  subject: text,
  incident: reference.optional(),
  channels: z.array(text),
});

const row = describes<Row>()(
  z.discriminatedUnion("kind", [incidentRow, executionRow, approvalRow, pauseRow, targetRow, taskRow, noticeRow]),
);

/** In a query string; several values of one filter have commas between them. */
export const rowFilter = describes<RowFilter>()(
  z.strictObject({
    lane: text.optional(),
    phase: text.optional(),
    reason: text.optional(),
    target: text.optional(),
    workflow: text.optional(),
    namespace: text.optional(),
    since: text.meta({ description: "A duration such as 24h." }).optional(),
    search: text.optional(),
  }),
);

/** An object in the path of a route. */
export const named = z.object({ namespace: text, name: text });

/** The part of a list that is asked for. */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(100),
  after: text.optional(),
});

const rowPage = describes<RowPage>()(
  z.object({ version: text, total: count, rows: z.array(row), next: text.optional() }),
);

const now = describes<Now>()(
  z.object({
    version: text,
    lanes: z.array(z.object({ lane: z.enum(lanes), total: count, rows: z.array(incidentRow) })),
    pauses: z.array(pauseRow),
    approvals: z.array(approvalRow),
    executions: z.array(executionRow),
  }),
);

const changes = describes<Changes>()(
  z.object({ changed: z.array(row), removed: z.array(z.object({ kind: rowKind, key: reference })) }),
);

const beat = describes<Beat>()(z.object({ serverTime: time, currentAt: time }));

const check = z.object({
  name: text,
  passed: z.boolean(),
  isDeciding: z.boolean(),
  evidence: text,
  clearsAt: time.optional(),
  clears: text.optional(),
});

const timelineEvent = z.object({
  at: time,
  until: time.optional(),
  lane: z.enum(["signals", "decisions", "runs", "people", "pauses"]),
  title: text,
  detail: text.optional(),
  signals: count.optional(),
  tone: z.enum(["good", "bad", "wait", "neutral"]),
  link: text.optional(),
});

const incidentDetail = describes<IncidentDetail>()(
  z.object({
    row: incidentRow,
    message: text.optional(),
    checks: z.array(check),
    why: z.array(text),
    labels: texts,
    annotations: texts,
    series: z.array(z.object({ firingAt: time, resolvedAt: time.optional(), severity: text.optional() })),
    executions: z.array(executionRow),
    followers: z.array(incidentRow),
    notices: z.array(noticeRow),
    events: z.array(timelineEvent),
  }),
);

const targetDetail = describes<TargetDetail>()(
  z.object({
    row: targetRow.optional(),
    target: text,
    events: z.array(timelineEvent),
    workflows: z.array(
      z.object({
        workflow: text,
        isAllowed: z.boolean(),
        reason: text.optional(),
        until: time.optional(),
        checks: z.array(check),
      }),
    ),
    otherWorkflows: z.array(text),
    incidents: z.array(incidentRow),
    executions: z.array(executionRow),
  }),
);

const step = z.object({ name: text, phase: text, exitCode: z.int().optional() });

const executionDetail = describes<ExecutionDetail>()(
  z.object({
    row: executionRow,
    parameters: texts,
    image: text.optional(),
    digest: text.optional(),
    serviceAccount: text.optional(),
    fence: text.optional(),
    failure: text.optional(),
    tasks: z.array(
      z.object({
        name: text,
        phase: text,
        after: z.array(text),
        startedAt: time.optional(),
        endedAt: time.optional(),
        steps: z.array(step),
      }),
    ),
  }),
);

const logLine = describes<LogLine>()(z.object({ task: text, step: text, text }));

const logProblem = describes<LogProblem>()(z.object({ message: text }));

const locks = describes<readonly Lock[]>()(
  z.array(
    z.object({
      key: text,
      holder: text.optional(),
      fence: text.optional(),
      since: time.optional(),
      expiresAt: time.optional(),
      waiters: count,
    }),
  ),
);

const storm = describes<Storm>()(
  z.object({
    bucketSeconds: z.number(),
    times: z.array(time),
    signals: z.array(count),
    incidents: z.array(count),
    runs: z.array(count),
    totals: z.object({
      signals: count,
      deduplicated: count,
      incidents: count,
      followed: count,
      coolingDown: count,
      otherwiseBlocked: count,
      waiting: count,
      runs: count,
    }),
  }),
);

const workflowParameter = z.object({
  name: text,
  type: z.enum(parameterTypes),
  required: z.boolean(),
  description: text.optional(),
  default: text.optional(),
  options: z.array(text).optional(),
  pattern: text.optional(),
  isSecret: z.boolean().optional(),
});

const catalog = describes<Catalog>()(
  z.object({
    workflows: z.array(
      z.object({
        id: text,
        version: text,
        engine: text,
        description: text.optional(),
        needsApproval: z.boolean(),
        targetKinds: z.array(text).optional(),
        parameters: z.array(workflowParameter),
      }),
    ),
    rules: z.array(z.object({ name: text, workflow: text, observe: z.boolean(), source: text.optional() })),
    problems: z.array(text),
  }),
);

export const ruleTest = describes<RuleTest>()(z.strictObject({ source: text, payload: z.unknown() }));

const ruleTestResult = describes<RuleTestResult>()(
  z.object({
    signals: z.array(
      z.object({
        signal: text,
        subject: text.optional(),
        outcome: text,
        rule: text.optional(),
        workflow: text.optional(),
        target: text.optional(),
        lines: z.array(text),
      }),
    ),
  }),
);

export const ledgerQuery = z.strictObject({
  search: text.optional(),
  incident: text.optional(),
  execution: text.optional(),
  target: text.optional(),
  type: text.optional(),
  ...pageQuery.shape,
});

const ledgerPage = describes<LedgerPage>()(
  z.object({
    events: z.array(z.object({ id: text, at: time, type: text, summary: text, facts: z.record(text, z.unknown()) })),
    next: text.optional(),
  }),
);

const ledgerChains = describes<LedgerChains>()(
  z.object({ chains: z.array(z.object({ writer: text, rows: count, head: text, state: text })) }),
);

/** A request for any operation. Each operation has a schema of its own: `requestSchema(name)` of operate. */
const operationRequest = describes<OperationRequest>()(anyRequest);

const operationResult = describes<OperationResult>()(
  z.object({
    message: text,
    notes: z.array(text),
    kind: rowKind.optional(),
    object: reference.optional(),
    command: text,
  }),
);

/** The bodies of requests, responses and events by their names in the OpenAPI document. */
export const responseSchemas = {
  Session: session,
  Now: now,
  RowPage: rowPage,
  Changes: changes,
  Beat: beat,
  IncidentDetail: incidentDetail,
  TargetDetail: targetDetail,
  ExecutionDetail: executionDetail,
  LogLine: logLine,
  LogProblem: logProblem,
  Locks: locks,
  Storm: storm,
  Catalog: catalog,
  RuleTestResult: ruleTestResult,
  LedgerPage: ledgerPage,
  LedgerChains: ledgerChains,
  OperationRequest: operationRequest,
  OperationResult: operationResult,
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type ResponseName = keyof typeof responseSchemas;
