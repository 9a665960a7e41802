import { operationNames } from "../../operate/request/index.ts";
import { z } from "../../schema/index.ts";
import { lanes, rowKinds } from "./names.ts";

export const text = z.string();
export const texts = z.record(text, text);
export const time = z.string().meta({ format: "date-time" });
export const count = z.int().min(0);
export const reference = z.string().meta({ description: "NAMESPACE/NAME" });

export const operationName = z.enum(operationNames);
export const rowKind = z.enum(rowKinds);

const rowBase = {
  key: reference.describe("NAMESPACE/NAME: unique among rows of this kind."),
  name: text.describe("Shortened as the command line prints it."),
  version: text.describe("The resourceVersion of the object: sent back with an operation as `ifVersion`."),
  createdAt: time,
};

export const incidentRow = z.object({
  ...rowBase,
  kind: z.literal("incidents"),
  lane: z.enum(lanes),
  phase: text,
  signal: text,
  severity: text,
  subject: text.describe("Of the signal."),
  target: text.optional(),
  workflow: text.optional(),
  rule: text.optional(),
  reason: text.describe("The reason for the block, as people read it.").optional(),
  message: text.describe("Cut at 200 characters.").optional(),
  until: time.optional(),
  execution: reference
    .describe("The execution that holds the target, or that this incident runs or follows: NAMESPACE/NAME.")
    .optional(),
  position: count.describe("In the queue of the target, from 1.").optional(),
  attempt: z.object({ number: count, of: count }).optional(),
  approval: reference.describe("The approval that is waited for: NAMESPACE/NAME.").optional(),
  next: z.array(operationName).describe("The operations that would move this incident on, the best first."),
  seen: count,
  lastSeenAt: time.optional(),
  outcome: text.optional(),
  closedAt: time.optional(),
});

export const executionRow = z.object({
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

export const approvalRow = z.object({
  ...rowBase,
  kind: z.literal("approvals"),
  workflow: text,
  target: text,
  why: text.describe("Why the workflow was chosen, or why it requires an approval."),
  incident: reference.optional(),
  requiredBy: text,
  decision: text.optional(),
  decidedBy: text.optional(),
  decidedAt: time.optional(),
});

export const pauseRow = z.object({
  ...rowBase,
  kind: z.literal("pauses"),
  scope: text.describe('As people read it: "everything", "namespace payment", "target node/worker-1".'),
  author: text,
  reason: text,
  until: time.optional(),
  endedAt: time.optional(),
  suppressed: count.describe("Open incidents that it holds back now."),
});

export const targetRow = z.object({
  ...rowBase,
  kind: z.literal("targets"),
  target: text,
  holder: reference.describe("The execution that holds it: NAMESPACE/NAME.").optional(),
  fence: text
    .describe("The version of the record while it is held: the fence of every later holder is larger.")
    .optional(),
  heldSince: time.optional(),
  waiting: count.describe("Executions and incidents that wait for it."),
});

export const taskRow = z.object({
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

export const noticeRow = z.object({
  ...rowBase,
  kind: z.literal("notices"),
  phase: text,
  subject: text,
  incident: reference.optional(),
  channels: z.array(text),
});

export const row = z.discriminatedUnion("kind", [
  incidentRow,
  executionRow,
  approvalRow,
  pauseRow,
  targetRow,
  taskRow,
  noticeRow,
]);

/** Filters of rows, as in the query string. Several values of one filter have commas between them. */
export const rowFilter = z.strictObject({
  lane: text.optional(),
  phase: text.optional(),
  reason: text.optional(),
  target: text.optional(),
  workflow: text.optional(),
  namespace: text.optional(),
  since: text.describe("A duration such as 24h: rows that changed within it.").optional(),
  search: text.describe("Words, all of which a row has.").optional(),
});

/** GET /api/v1/rows/KIND?limit=…&after=…: one page, newest first. */
export const rowPage = z.object({
  version: text.describe("Of the projection: a stream from here misses nothing."),
  total: count,
  rows: z.array(row),
  next: text.describe("Given back as `after`, it asks for the next page.").optional(),
});

/** GET /api/v1/now */
export const now = z.object({
  version: text,
  lanes: z.array(z.object({ lane: z.enum(lanes), total: count, rows: z.array(incidentRow) })),
  pauses: z.array(pauseRow),
  approvals: z
    .array(approvalRow)
    .describe("Those that wait for an answer and belong to no incident; empty if the caller may not read them."),
  executions: z.array(executionRow).describe("Those of no incident that have not ended."),
});

/**
 * GET /api/v1/stream?kinds=incidents,…: Server-Sent Events. `id` is the version of the projection; the browser sends the
 * last one back as Last-Event-ID. Event `changes` carries Changes; after `reset` the id is too old, and the page reads its rows again;
 * `beat` comes at least every 2 s and carries Beat.
 */
export const changes = z.object({
  changed: z.array(row),
  removed: z.array(z.object({ kind: rowKind, key: reference })),
});

export const beat = z.object({
  serverTime: time,
  currentAt: time.describe("When the oldest of the watches behind the projection was last known to be current."),
});
