import { z } from "zod";
import type { KubeObject } from "../kube/index.ts";
import { blockReasonNames } from "./block-reasons.ts";
import { ageColumn, defineKind, stalledColumn } from "./define-kind.ts";
import { failureReasonNames } from "./failure-reasons.ts";
import {
  conditions,
  count,
  incidentRef,
  listByKey,
  name,
  targetText,
  text,
  timestamp,
  type Wire,
  workflowId,
} from "./fields.ts";
import { finalPhases, immutable } from "./schema/rules.ts";

/** Something that people should be told. */
export interface NotificationRequest extends KubeObject {
  readonly spec: NotificationRequestSpec;
  readonly status?: NotificationRequestStatus;
}

export type NotificationRequestSpec = Wire<typeof spec>;
export type NotificationRequestStatus = Wire<typeof status>;
export type NoticePhase = NotificationRequestStatus["phase"];
export type NoticeContext = Wire<typeof context>;

/** Everything that notices are created for; docs/notify.md says when. */
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
  message: text.describe("What happened to it."),
});

const context = z.strictObject({
  workflowId: workflowId.describe("The workflow it is about.").optional(),
  targetResource: targetText.describe("The target it is about.").optional(),
  execution: name.describe("Name of the execution it is about.").optional(),
  skipReason: z.enum(blockReasonNames).describe("Why nothing was run.").optional(),
  conflictingWorkflow: name.describe("Name of the execution that holds the target.").optional(),
  recentRemediation: name.describe("Name of the earlier execution that stands in the way.").optional(),
  failureReason: z.enum(failureReasonNames).describe("Why it failed.").optional(),
  until: timestamp.describe("When the answer changes by itself.").optional(),
  nextStep: text.describe("What a person can do.").optional(),
  entries: listByKey("name", digestEntry).describe("For a digest: everything it stands for.").optional(),
});

const spec = z
  .strictObject({
    eventType: z.enum(noticeTypes).describe("What happened."),
    severity: z.enum(["info", "warning", "critical"]).describe("How much it matters."),
    message: text.describe("What happened, for people."),
    context: context.describe("The facts, for those who route or format the notice.").optional(),
    remediationRequestRef: incidentRef.describe("The incident it belongs to.").optional(),
  })
  .meta({
    description: "What to tell. It never changes.",
    "x-kubernetes-validations": [immutable("a notice does not change: create a new one")],
  });

const deliveryAttempt = z.strictObject({
  channel: text.describe("Where it was to be delivered."),
  attempt: count.describe("Which try on this channel, from 1."),
  at: timestamp.describe("When."),
  status: z.enum(["success", "failed", "timeout", "refused"]).describe("How it went."),
  error: z.string().describe("What the channel said, without secrets.").optional(),
});

const common = {
  deliveryAttempts: z
    .array(deliveryAttempt)
    .meta({ "x-kubernetes-list-type": "atomic" })
    .describe("Every try, oldest first.")
    .optional(),
  message: z.string().describe("Where it stands, in one sentence.").optional(),
  conditions: conditions.describe("Steps on the way, for tools that wait for them.").optional(),
};
const completionTime = timestamp.describe("When it was settled.");

const status = z
  .discriminatedUnion("phase", [
    z.strictObject({ phase: z.enum(["Pending", "Sending"]).describe("How far the delivery has come."), ...common }),
    z.strictObject({
      phase: z.literal("Retrying"),
      nextAttemptTime: timestamp.describe("When it is tried again."),
      ...common,
    }),
    z.strictObject({ phase: z.enum(["Sent", "PartiallySent", "Failed"]), completionTime, ...common }),
    z.strictObject({
      phase: z.literal("Digested"),
      completionTime,
      digest: name.describe("Name of the notice that stands for this one."),
      ...common,
    }),
  ])
  .meta({
    description: "How the delivery went.",
    "x-kubernetes-validations": [finalPhases(["Sent", "PartiallySent", "Failed", "Digested"])],
  });

export const notificationRequests = defineKind<NotificationRequest>({
  kind: "NotificationRequest",
  shortName: "notif",
  description: "NotificationRequest is something that people should be told.",
  spec,
  status,
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Event", type: "string", jsonPath: ".spec.eventType" },
    { name: "Severity", type: "string", jsonPath: ".spec.severity" },
    { name: "Target", type: "string", jsonPath: ".spec.context.targetResource" },
    { name: "Message", type: "string", jsonPath: ".spec.message", priority: 1 },
    stalledColumn,
    ageColumn,
  ],
});
