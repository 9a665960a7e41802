import { z } from "zod";
import type { KubeObject } from "../kube/index.ts";
import { ageColumn, defineKind, stalledColumn } from "./define-kind.ts";
import { failureReasonNames } from "./failure-reasons.ts";
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
  type Wire,
  workflowId,
} from "./fields.ts";
import { immutable } from "./schema/rules.ts";

/** The target record: who holds a target now, and what the policy has to know of its past. Named by the target's hash. */
export interface RemediationTarget extends KubeObject {
  readonly spec: RemediationTargetSpec;
  readonly status?: RemediationTargetStatus;
}

export type RemediationTargetSpec = Wire<typeof spec>;
export type RemediationTargetStatus = Wire<typeof status>;
export type WorkflowHistory = Wire<typeof workflowHistory>;
export type ExecutionEnd = Wire<typeof executionEnd>;
export type Ineffectiveness = Wire<typeof ineffectiveness>;
export type Acknowledgement = Wire<typeof acknowledgement>;

/** How many ends of executions a record keeps per workflow. */
export const keptEnds = 20;

const spec = z.strictObject({ targetResource: targetText.describe("The target, in canonical form.") }).meta({
  description: "Which target the record is about. It never changes.",
  "x-kubernetes-validations": [immutable("a record is about one target for ever")],
});

const executionEnd = z.strictObject({
  executionUid: uid.describe("Uid of the execution."),
  executionName: name.describe("Its name, for people."),
  executionNamespace: name.describe("Its namespace, for people."),
  outcome: z.enum(["Success", "Failed"]).describe("How it ended."),
  completedAt: timestamp.describe("When it ended."),
  reason: z.enum(failureReasonNames).describe("Why it failed.").optional(),
  wasExecutionFailure: z.boolean().describe("True if it failed after anything had started.").optional(),
  signalFingerprint: fingerprint.describe("Fingerprint of the incident for which it ran.").optional(),
  incidentSince: timestamp
    .describe("When that incident was opened, or was reported again after an earlier run.")
    .optional(),
  approvalUid: uid.describe("Uid of the approval that it used; an approval is good for one run.").optional(),
  cooldownEnded: z
    .literal(true)
    .describe("The execution was deleted, which ended the cooldown after its success.")
    .optional(),
});

const acknowledgement = z.strictObject({
  executionUid: uid.describe("Uid of the execution that was acknowledged."),
  coversUntil: timestamp.describe("When that execution ended: everything that ended up to then is acknowledged."),
  by: text.describe("Who acknowledged it."),
  verified: z.boolean().describe("True if that identity was authenticated rather than claimed."),
  reason: text.describe("Why trying again is safe."),
  at: timestamp.describe("When."),
});

const ineffectiveness = z.strictObject({
  latestSuccess: executionEnd.describe("The latest of the successes that did not last."),
  foundAt: timestamp.describe("When that was written into the record."),
});

const workflowHistory = z.strictObject({
  workflowId: workflowId.describe("The workflow."),
  lastSuccess: executionEnd.describe("Its latest success here; the cooldown counts from it.").optional(),
  lastFailure: executionEnd.describe("Its latest failure here, of either sort.").optional(),
  lastExecutionFailure: executionEnd
    .describe("Its latest failure here after anything had started; blocks until it is acknowledged.")
    .optional(),
  ineffective: ineffectiveness
    .describe("It succeeded here again and again without lasting; blocks until it is acknowledged.")
    .optional(),
  ack: acknowledgement.describe("The latest acknowledgement.").optional(),
  consecutiveFailures: count.describe("Failures before acting, since the latest success or acknowledgement."),
  nextAllowed: timestamp.describe("Not before then may it be tried again.").optional(),
  recentEnds: listByKey("executionUid", executionEnd)
    .max(keptEnds)
    .describe("Its latest ends, newest first. Each execution is counted once, by uid."),
});

const status = z
  .strictObject({
    holder: recordHolder.describe("The execution that may act on the target now; absent if it is free.").optional(),
    workflows: listByKey("workflowId", workflowHistory).describe("What happened here, per workflow.").optional(),
    conditions: conditions.describe("State of the record, for tools that wait for it.").optional(),
  })
  .meta({ description: "Who holds the target, and what happened to it." });

export const remediationTargets = defineKind<RemediationTarget>({
  kind: "RemediationTarget",
  shortName: "rt",
  description: "RemediationTarget is the record of one target: who holds it now, and what was done to it before.",
  spec,
  status,
  selectable: ["spec.targetResource"],
  columns: [
    { name: "Target", type: "string", jsonPath: ".spec.targetResource" },
    { name: "Holder", type: "string", jsonPath: ".status.holder.executionName", description: "Who may act on it now" },
    { name: "Workflow", type: "string", jsonPath: ".status.holder.workflowId" },
    { name: "Since", type: "date", jsonPath: ".status.holder.since" },
    { name: "Engine", type: "string", jsonPath: ".status.holder.engine", priority: 1 },
    stalledColumn,
    ageColumn,
  ],
});
