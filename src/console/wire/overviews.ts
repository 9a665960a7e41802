import { z } from "../../schema/index.ts";
import { count, text, time } from "./rows.ts";

/** One of GET /api/v1/locks */
export const lock = z.object({
  key: text,
  holder: text.optional(),
  fence: text.optional(),
  since: time.optional(),
  expiresAt: time.optional(),
  waiters: count,
});

/** GET /api/v1/storm?window=1h: signals, incidents and runs, in buckets of equal length. */
export const storm = z.object({
  bucketSeconds: z.number(),
  times: z.array(time).describe("The start of each bucket."),
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
    waiting: count.describe("Incidents with neither a run nor a block yet, such as those that wait for an approval."),
    runs: count,
  }),
});

/** A parameter for a form. Values are texts in the syntax of the command line: those of an array are separated by commas. */
export const workflowParameter = z.object({
  name: text,
  type: z.enum(["string", "integer", "number", "boolean", "array"]),
  required: z.boolean(),
  description: text.optional(),
  default: text.optional(),
  options: z.array(text).describe("The allowed values.").optional(),
  pattern: text.describe("A regular expression.").optional(),
  isSecret: z.boolean().optional(),
});

/** GET /api/v1/catalog */
export const catalog = z.object({
  workflows: z.array(
    z.object({
      id: text,
      version: text,
      engine: text,
      description: text.optional(),
      needsApproval: z.boolean(),
      targetKinds: z.array(text).describe("The kinds of target it supports; any kind if absent.").optional(),
      parameters: z.array(workflowParameter),
    }),
  ),
  rules: z.array(z.object({ name: text, workflow: text, observe: z.boolean() })),
  problems: z.array(text),
});

/** POST /api/v1/rules/test with a body of a source, such as a notification of Alertmanager. Changes nothing. */
export const ruleTest = z.strictObject({ source: text, payload: z.unknown() });

export const ruleTestResult = z.object({
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
});

/** GET /api/v1/ledger?search=&incident=&execution=&target=&type=&after=&limit= : newest first. */
export const ledgerPage = z.object({
  events: z.array(z.object({ id: text, at: time, type: text, summary: text, facts: z.record(text, z.unknown()) })),
  next: text.optional(),
});

/** GET /api/v1/ledger/chains */
export const ledgerChains = z.object({
  chains: z.array(z.object({ writer: text, rows: count, head: text, state: text })),
});
