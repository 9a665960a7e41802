import { z } from "zod";
import { blockReasonNames } from "../../block-reasons.ts";
import { failureReasonNames } from "../../failure-reasons.ts";
import { finalPhases, immutable } from "../../schema/rules.ts";
import { defineSchema } from "./define-schema.ts";
import { conditions, count, incidentRef, listByKey, name, targetText, text, timestamp, workflowId } from "./fields.ts";

/** All types of notices; docs/notify.md lists when they are created. */
export const noticeTypes = [
  "WorkflowCompleted",
  "WorkflowFailed",
  "WorkflowSkipped",
  "IncidentBlocked",
  "IncidentClosed",
  "ApprovalRequired",
  "ApprovalExpired",
  "ManualReviewRequired",
  "WorkStalled",
] as const;

const digestEntry = z.strictObject({
  name: name.describe("Name of the incident or execution."),
  message: text.describe("The event."),
});

export const context = z.strictObject({
  workflowId: workflowId.describe("The workflow concerned.").optional(),
  targetResource: targetText.describe("The target concerned.").optional(),
  execution: name.describe("Name of the execution concerned.").optional(),
  skipReason: z.enum(blockReasonNames).describe("Why no run was started.").optional(),
  conflictingWorkflow: name.describe("Name of the execution that holds the target.").optional(),
  recentRemediation: name.describe("Name of the earlier execution that blocks this one.").optional(),
  failureReason: z.enum(failureReasonNames).describe("Why the execution failed.").optional(),
  until: timestamp.describe("When the block clears by itself.").optional(),
  nextStep: text.describe("What an operator can do.").optional(),
  entries: listByKey("name", digestEntry).describe("For a digest: the notices that it summarises.").optional(),
});

export const spec = z
  .strictObject({
    eventType: z.enum(noticeTypes).describe("Type of the notice."),
    severity: z.enum(["info", "warning", "critical"]).describe("Priority of the notice."),
    message: text.describe("Text of the notice."),
    context: context.describe("The facts, for routing and formatting.").optional(),
    remediationRequestRef: incidentRef.describe("The incident of the notice.").optional(),
    onlyOpenThreads: z
      .boolean()
      .describe("True: only for channels on which the incident has a thread or an alert, in order to resolve it.")
      .optional(),
  })
  .meta({
    description: "The message. Immutable.",
    "x-kubernetes-validations": [immutable("a notice does not change: create a new one")],
  });

const deliveryAttempt = z.strictObject({
  channel: text.describe("The channel."),
  attempt: count.describe("Number of the attempt on this channel, from 1."),
  at: timestamp.describe("When."),
  status: z.enum(["success", "failed", "timeout", "refused"]).describe("Outcome of the attempt."),
  error: z.string().describe("Error of the channel, without secrets.").optional(),
  thread: z.string().max(1024).describe("Id of the thread or alert of the incident on the channel.").optional(),
});

const common = {
  deliveryAttempts: z
    .array(deliveryAttempt)
    .meta({ "x-kubernetes-list-type": "atomic" })
    .describe("All attempts, oldest first.")
    .optional(),
  message: z.string().describe("Current state, in one sentence.").optional(),
  conditions: conditions.describe("Conditions, for tools that wait for them.").optional(),
};

const completionTime = timestamp.describe("When the delivery ended.");

export const status = z
  .discriminatedUnion("phase", [
    z.strictObject({ phase: z.enum(["Pending", "Sending"]).describe("Phase of the delivery."), ...common }),
    z.strictObject({
      phase: z.literal("Retrying"),
      nextAttemptTime: timestamp.describe("When the next attempt is made."),
      ...common,
    }),
    z.strictObject({ phase: z.enum(["Sent", "PartiallySent", "Failed"]), completionTime, ...common }),
    z.strictObject({
      phase: z.literal("Digested"),
      completionTime,
      digest: name.describe("Name of the digest that contains this notice."),
      ...common,
    }),
  ])
  .meta({
    description: "State of the delivery.",
    "x-kubernetes-validations": [finalPhases(["Sent", "PartiallySent", "Failed", "Digested"])],
  });

export const notificationRequestSchema = defineSchema({
  kind: "NotificationRequest",
  description: "NotificationRequest is a message to people, delivered once per channel.",
  spec,
  status,
});
