import { z } from "zod";
import { failureReasonNames } from "../../failure-reasons.ts";
import { immutable } from "../../schema/rules.ts";
import { keptEnds } from "../phases-and-limits.ts";
import { defineSchema } from "./define-schema.ts";
import {
  conditions,
  count,
  fingerprint,
  listByKey,
  name,
  recordHolder,
  targetText,
  text,
  timestamp,
  uid,
  workflowId,
} from "./fields.ts";

export const spec = z.strictObject({ targetResource: targetText.describe("The target, in canonical form.") }).meta({
  description: "The target of this record. Immutable.",
  "x-kubernetes-validations": [immutable("the target of a record is immutable")],
});

export const executionEnd = z.strictObject({
  executionUid: uid.describe("Uid of the execution."),
  executionName: name.describe("Its name, for display."),
  executionNamespace: name.describe("Its namespace, for display."),
  outcome: z.enum(["Success", "Failed"]).describe("Outcome of the execution."),
  completedAt: timestamp.describe("When the execution ended."),
  reason: z.enum(failureReasonNames).describe("Why the execution failed.").optional(),
  wasExecutionFailure: z.boolean().describe("True if it failed after any step had started.").optional(),
  signalFingerprint: fingerprint.describe("Fingerprint of the execution's incident.").optional(),
  incidentSince: timestamp
    .describe("When that incident was opened, or was reported again after an earlier run.")
    .optional(),
  approvalUid: uid.describe("Uid of the approval used; an approval covers one run.").optional(),
  cooldownEnded: z
    .literal(true)
    .describe("The execution was deleted, which ended the cooldown after its success.")
    .optional(),
});

export const acknowledgement = z.strictObject({
  executionUid: uid.describe("Uid of the acknowledged execution."),
  coversUntil: timestamp.describe("When that execution ended: all executions that ended up to then are acknowledged."),
  by: text.describe("The operator who acknowledged."),
  verified: z.boolean().describe("True if that identity was authenticated rather than claimed."),
  reason: text.describe("Why a retry is safe."),
  at: timestamp.describe("When."),
});

export const ineffectiveness = z.strictObject({
  latestSuccess: executionEnd.describe("The latest success that did not last."),
  foundAt: timestamp.describe("When it was written to the record."),
});

export const workflowHistory = z.strictObject({
  workflowId: workflowId.describe("The workflow."),
  lastSuccess: executionEnd.describe("The latest success on this target; the cooldown counts from it.").optional(),
  lastFailure: executionEnd.describe("The latest failure on this target, of either sort.").optional(),
  lastExecutionFailure: executionEnd
    .describe("The latest failure on this target after a step had started; blocks until acknowledged.")
    .optional(),
  ineffective: ineffectiveness.describe("Repeated successes that did not last; blocks until acknowledged.").optional(),
  ack: acknowledgement.describe("The latest acknowledgement.").optional(),
  consecutiveFailures: count.describe("Failures before acting, since the latest success or acknowledgement."),
  nextAllowed: timestamp.describe("Earliest time of the next attempt.").optional(),
  recentEnds: listByKey("executionUid", executionEnd)
    .max(keptEnds)
    .describe("The latest ended executions, newest first. Each is counted once, by uid."),
});

export const status = z
  .strictObject({
    holder: recordHolder.describe("The execution that may act on the target now; absent if it is free.").optional(),
    workflows: listByKey("workflowId", workflowHistory).describe("History per workflow.").optional(),
    conditions: conditions.describe("Conditions, for tools that wait for them.").optional(),
  })
  .meta({ description: "The holder of the target, and its history." });

export const remediationTargetSchema = defineSchema({
  kind: "RemediationTarget",
  description: "RemediationTarget is the record of one target: its current holder and its history.",
  spec,
  status,
});
