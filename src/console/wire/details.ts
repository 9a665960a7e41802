import { z } from "../../schema/index.ts";
import { approvalRow, count, executionRow, incidentRow, noticeRow, targetRow, text, texts, time } from "./rows.ts";

/** One check of the policy, as `why` explains it. */
export const policyCheck = z.object({
  name: text,
  passed: z.boolean(),
  isDeciding: z.boolean(),
  evidence: text,
  clearsAt: time.optional(),
  clears: text.optional(),
});

export const timelineEvent = z.object({
  at: time,
  until: time.describe("The end of an event with a duration.").optional(),
  lane: z.enum(["signals", "decisions", "runs", "operators", "pauses"]),
  title: text,
  detail: text.optional(),
  signals: count.describe("The number of signals in this event.").optional(),
  tone: z.enum(["good", "bad", "wait", "neutral"]),
  link: text.describe("A path of the console.").optional(),
});

/** GET /api/v1/incidents/NAMESPACE/NAME */
export const incidentDetail = z.object({
  row: incidentRow,
  message: text.describe("The message of the row at its full length.").optional(),
  checks: z.array(policyCheck),
  why: z.array(text).describe("The lines of `interlock why`."),
  labels: texts,
  annotations: texts,
  series: z.array(z.object({ firingAt: time, resolvedAt: time.optional(), severity: text.optional() })),
  executions: z.array(executionRow),
  followers: z.array(incidentRow),
  notices: z.array(noticeRow),
  events: z.array(timelineEvent).describe("Signals, decisions, runs and acknowledgements, oldest first."),
});

/** GET /api/v1/targets/detail?target=TARGET */
export const targetDetail = z.object({
  row: targetRow.optional(),
  target: text,
  events: z.array(timelineEvent),
  workflows: z.array(
    z.object({
      workflow: text,
      isAllowed: z.boolean(),
      reason: text.optional(),
      until: time.optional(),
      checks: z.array(policyCheck),
    }),
  ),
  otherWorkflows: z.array(text).describe("The workflows that do not act on targets of this kind."),
  incidents: z.array(incidentRow),
  executions: z.array(executionRow),
});

/** GET /api/v1/approvals/NAMESPACE/NAME */
export const approvalDetail = z.object({
  row: approvalRow,
  whyRequired: text.describe("Why the workflow requires an approval."),
  rationale: text
    .describe("Why the workflow was chosen: the rule, or the caller and the reason of a requested run.")
    .optional(),
  summary: text.describe("What is known about the cause.").optional(),
  parameters: texts,
});

/** GET /api/v1/executions/NAMESPACE/NAME */
export const executionDetail = z.object({
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
      steps: z.array(z.object({ name: text, phase: text, exitCode: z.int().optional() })),
    }),
  ),
});

/**
 * GET /api/v1/executions/NAMESPACE/NAME/logs?tail=2000: Server-Sent Events `line`; `problem` if output cannot be read; `end`
 * when the output is complete. A stream without `end` was interrupted: open it again, and it starts at its first line.
 */
export const logLine = z.object({ task: text, step: text, text });

/** The event `problem` of that stream. */
export const logProblem = z.object({ message: text });
