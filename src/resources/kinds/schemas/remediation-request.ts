import { z } from "zod";
import { blockReasonNames, recentCauses } from "../../block-reasons.ts";
import { celIsOneOf, finalPhases, onlyRemoves } from "../../schema/rules.ts";
import { closedIncidentPhases } from "../phases-and-limits.ts";
import { defineSchema } from "./define-schema.ts";
import {
  conditions,
  count,
  executionRef,
  fingerprint,
  holder,
  listByKey,
  name,
  parameters,
  repeatedTargetText,
  stringMap,
  targetText,
  text,
  timestamp,
  workflowId,
} from "./fields.ts";

const severity = z.string().min(1).max(50);

const targetResource = z.strictObject({
  kind: z.string().min(1).max(253).describe("Kind, as in Deployment."),
  name: name.describe("Name of the object."),
  namespace: name.describe("Its namespace, for kinds that have one.").optional(),
  apiVersion: z
    .string()
    .max(253)
    .describe("Its apiVersion, as in apps/v1; needed for kinds that are not built in.")
    .optional(),
});

const specFields = z.strictObject({
  signalFingerprint: fingerprint.describe(
    "Identity of the problem: signals with the same fingerprint are the same incident.",
  ),
  signalName: z.string().min(1).max(253).describe("Name of the signal, such as the name of the alert."),
  signalSource: z.string().min(1).max(63).describe("Source of the signal, such as alertmanager.").optional(),
  severity: severity.describe("Severity, in the sender's own word."),
  targetResource: targetResource.describe(
    "The subject of the signal. The target of the remediation is in the diagnosis.",
  ),
  firingTime: timestamp.describe("When the problem began, according to the sender."),
  receivedTime: timestamp.describe("When the first signal arrived."),
  signalLabels: stringMap.describe("Labels of the first signal.").optional(),
  signalAnnotations: stringMap.describe("Annotations of the first signal.").optional(),
  originalPayload: z.string().describe("The first signal as it arrived, in JSON.").optional(),
});

const signalTexts = ["signalLabels", "signalAnnotations", "originalPayload"] as const;

export const spec = specFields.meta({
  description:
    "The problem as first reported. Immutable; labels, annotations and payload are removed when the incident becomes a tombstone.",
  "x-kubernetes-validations": [
    onlyRemoves(
      signalTexts,
      Object.keys(specFields.shape),
      "an incident's spec is what was reported, and does not change",
    ),
  ],
});

/** Only a closed incident becomes a tombstone. */
const keepsTextsWhileOpen = {
  rule: `self.spec == oldSelf.spec || (has(oldSelf.status) && ${celIsOneOf("oldSelf.status.phase", closedIncidentPhases)})`,
  message: "labels, annotations and payload of an incident stay until it is closed",
};

export const series = z.strictObject({
  firingAt: timestamp.describe("When the series began to fire, by the sender's clock."),
  resolvedAt: timestamp
    .describe("When the series resolved, by the same clock; a later firing time reopens it.")
    .optional(),
  severity: severity.describe("Severity, if it differs from the first signal's.").optional(),
  subject: repeatedTargetText
    .describe("The subject, in canonical form, if it differs from the first signal's.")
    .optional(),
  labels: stringMap.describe("Labels that differ from the first signal's.").optional(),
  withoutLabels: z.array(z.string()).describe("Labels of the first signal that the series lacks.").optional(),
  annotations: stringMap.describe("Annotations that differ from the first signal's.").optional(),
  withoutAnnotations: z.array(z.string()).describe("Annotations of the first signal that the series lacks.").optional(),
  isTooLarge: z
    .boolean()
    .describe("True if labels and annotations are too large to be stored here. Rules do not read such a series.")
    .optional(),
});

export const deduplication = z.strictObject({
  firstSeenAt: timestamp.describe("When the first signal arrived."),
  lastSeenAt: timestamp.describe("When the latest signal arrived."),
  occurrenceCount: count.describe("Number of signals."),
  occurrencesByWriter: z
    .record(z.string(), count)
    .describe("Number of signals per gateway: absolute counts, so that a repeated write changes nothing.")
    .optional(),
  series: z
    .record(z.string(), series)
    .describe("The series of this incident, by a hash of their identity: at most 64.")
    .optional(),
  hasMoreSeries: z
    .boolean()
    .describe("True if more series were reported than are listed. They are counted, but rules do not read them.")
    .optional(),
  severity: severity.describe("The highest severity among the firing series; it is the effective one.").optional(),
});

export const diagnosis = z.strictObject({
  target: targetText.describe("The target, in canonical form."),
  workflowId: workflowId.describe("The workflow to run."),
  parameters: parameters.describe("Parameters of the workflow.").optional(),
  rule: z.string().describe("The rule that matched.").optional(),
  observe: z.boolean().describe("True if the rule is only observed: nothing is started.").optional(),
  deferWhile: z
    .strictObject({
      rules: z.array(z.string()).describe("The rules of the cause."),
      within: z.string().describe("The node, namespace or target that cause and symptom share."),
    })
    .describe("This incident waits while an incident of its cause is open.")
    .optional(),
});

export const block = z.strictObject({
  reason: z.enum(blockReasonNames).describe("The check that blocks."),
  cause: z.enum(recentCauses).describe("For RecentlyRemediated: after failures, or after a success.").optional(),
  message: text.describe("Reason and remedy, for display."),
  until: timestamp.describe("When the block clears by itself, if known.").optional(),
  holder: holder.describe("The holder of the target, for ResourceBusy.").optional(),
  decision: z.string().describe("Id of the recorded decision in the ledger.").optional(),
});

const diagnosed = diagnosis.describe("Result of the analysis.");

const common = {
  message: z.string().describe("Current state, in one sentence.").optional(),
  deduplication: deduplication.describe("Occurrences of the incident.").optional(),
  follows: executionRef.describe("The execution of another incident whose success also resolves this one.").optional(),
  executionRefs: listByKey("uid", executionRef).describe("The executions of this incident, oldest first.").optional(),
  requiresManualReview: z.boolean().describe("True if an operator must investigate.").optional(),
  startTime: timestamp.describe("When processing began.").optional(),
  resolvedAt: timestamp.describe("When the sender resolved the problem.").optional(),
  recurredAt: timestamp.describe("When the problem was last reported again after a successful run.").optional(),
  conditions: conditions.describe("Conditions, for tools that wait for them.").optional(),
};

const open = { diagnosis: diagnosed.optional(), ...common };

const completedAt = timestamp.describe("When the incident was closed.");

export const status = z
  .discriminatedUnion("phase", [
    z.strictObject({ phase: z.enum(["Pending", "Analyzing"]).describe("Phase of the incident."), ...open }),
    z.strictObject({ phase: z.enum(["AwaitingApproval", "Executing", "Verifying"]), ...common, diagnosis: diagnosed }),
    z.strictObject({
      phase: z.literal("Blocked"),
      block: block.describe("The reason for the block, and how it clears."),
      ...open,
    }),
    z.strictObject({
      phase: z.literal("Completed"),
      outcome: z
        .enum(["Remediated", "ResolvedDuringRun", "Inconclusive", "Observed"])
        .describe("Outcome of the incident."),
      completedAt,
      ...open,
    }),
    z.strictObject({
      phase: z.literal("Failed"),
      outcome: z.enum(["ExecutionFailed", "ApprovalRejected", "ApprovalExpired", "TimedOut"]),
      completedAt,
      ...open,
    }),
    z.strictObject({
      phase: z.literal("Withdrawn"),
      outcome: z.enum(["ResolvedBeforeStart", "ResolvedDuringApproval", "Stale", "Cancelled"]),
      completedAt,
      ...open,
    }),
  ])
  .meta({
    description: "State of the incident.",
    "x-kubernetes-validations": [finalPhases(closedIncidentPhases)],
  });

export const remediationRequestSchema = defineSchema({
  kind: "RemediationRequest",
  description: "RemediationRequest is an incident: one open problem, with all its signals.",
  spec,
  status,
  rules: [keepsTextsWhileOpen],
});
