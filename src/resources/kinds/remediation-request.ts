import { z } from "zod";
import type { KubeObject } from "../../kube/index.ts";
import { blockReasonNames, recentCauses } from "../block-reasons.ts";
import { celIsOneOf, finalPhases, onlyRemoves } from "../schema/rules.ts";
import { ageColumn, defineKind, stalledColumn } from "./define-kind.ts";
import {
  conditions,
  count,
  executionRef,
  fingerprint,
  holder,
  listByKey,
  name,
  parameters,
  stringMap,
  targetText,
  text,
  timestamp,
  type Wire,
  workflowId,
} from "./fields.ts";

/** An incident: one open problem, reported by one or many signals with the same fingerprint. */
export interface RemediationRequest extends KubeObject {
  readonly spec: RemediationRequestSpec;
  readonly status?: RemediationRequestStatus;
}

export type RemediationRequestSpec = Wire<typeof spec>;
export type RemediationRequestStatus = Wire<typeof status>;
export type IncidentPhase = RemediationRequestStatus["phase"];
export type Diagnosis = Wire<typeof diagnosis>;
export type Deduplication = Wire<typeof deduplication>;
/** One of the sender's alerts, as an incident stores it. */
export type IncidentSeries = Wire<typeof series>;
export type IncidentBlock = Wire<typeof block>;

/**
 * The incident as caches keep it: without the labels, annotations and payload of its signal. They may be long, every incident
 * has them, and few decisions need them; those that do read the incident.
 */
export function withoutSignalTexts(incident: RemediationRequest): RemediationRequest {
  if (!hasSignalTexts(incident)) return incident;
  const { signalLabels: _labels, signalAnnotations: _annotations, originalPayload: _payload, ...spec } = incident.spec;
  return { ...incident, spec };
}

/** The merge patch of a spec that removes the texts of its signal. */
export const signalTextsRemoved = { signalLabels: null, signalAnnotations: null, originalPayload: null };

/** Whether `incident` is more than caches keep. */
export function hasSignalTexts({ spec }: RemediationRequest): boolean {
  return [spec.signalLabels, spec.signalAnnotations, spec.originalPayload].some((texts) => texts !== undefined);
}

/** An incident in one of these is closed: the next signal opens a new one. */
export const closedIncidentPhases = ["Completed", "Failed", "Withdrawn"] as const;

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

const spec = specFields.meta({
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

/** A tombstone is made of a closed incident only. */
const keepsTextsWhileOpen = {
  rule: `self.spec == oldSelf.spec || (has(oldSelf.status) && ${celIsOneOf("oldSelf.status.phase", closedIncidentPhases)})`,
  message: "labels, annotations and payload of an incident stay until it is closed",
};

const series = z.strictObject({
  firingAt: timestamp.describe("When the series began to fire, by the sender's clock."),
  resolvedAt: timestamp
    .describe("When the series resolved, by the same clock; a later firing time reopens it.")
    .optional(),
  severity: severity.describe("Severity, if it differs from the first signal's.").optional(),
  subject: targetText.describe("The subject, in canonical form, if it differs from the first signal's.").optional(),
  labels: stringMap.describe("Labels that differ from the first signal's.").optional(),
  withoutLabels: z.array(z.string()).describe("Labels of the first signal that the series lacks.").optional(),
  annotations: stringMap.describe("Annotations that differ from the first signal's.").optional(),
  withoutAnnotations: z.array(z.string()).describe("Annotations of the first signal that the series lacks.").optional(),
  isTooLarge: z
    .boolean()
    .describe("True if labels and annotations are too large to be stored here. Rules do not read such a series.")
    .optional(),
});

const deduplication = z.strictObject({
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

const diagnosis = z.strictObject({
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

const block = z.strictObject({
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

const status = z
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

export const remediationRequests = defineKind<RemediationRequest>({
  kind: "RemediationRequest",
  shortName: "rr",
  description: "RemediationRequest is an incident: one open problem, with all its signals.",
  spec,
  status,
  rules: [keepsTextsWhileOpen],
  selectable: ["spec.signalFingerprint"],
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Signal", type: "string", jsonPath: ".spec.signalName" },
    { name: "Target", type: "string", jsonPath: ".status.diagnosis.target", description: "The target" },
    { name: "Workflow", type: "string", jsonPath: ".status.diagnosis.workflowId" },
    { name: "Blocked", type: "string", jsonPath: ".status.block.reason", description: "The reason for the block" },
    { name: "Outcome", type: "string", jsonPath: ".status.outcome" },
    {
      name: "Seen",
      type: "integer",
      jsonPath: ".status.deduplication.occurrenceCount",
      description: "Number of signals",
    },
    { name: "Severity", type: "string", jsonPath: ".status.deduplication.severity", priority: 1 },
    { name: "Cause", type: "string", jsonPath: ".status.block.cause", priority: 1 },
    { name: "Until", type: "string", jsonPath: ".status.block.until", priority: 1 },
    { name: "Fingerprint", type: "string", jsonPath: ".spec.signalFingerprint", priority: 1 },
    stalledColumn,
    ageColumn,
  ],
});
