import { z } from "zod";
import type { KubeObject } from "../kube/index.ts";
import { blockReasonNames, recentCauses } from "./block-reasons.ts";
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
import { celIsOneOf, finalPhases, onlyRemoves } from "./schema/rules.ts";

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
  signalFingerprint: fingerprint.describe("Identity of the problem: signals with the same one are the same incident."),
  signalName: z.string().min(1).max(253).describe("What was reported, such as the name of the alert."),
  signalSource: z.string().min(1).max(63).describe("Who reported it, such as alertmanager.").optional(),
  severity: severity.describe("How bad it is, in the sender's own word."),
  targetResource: targetResource.describe("What the signal is about. What is acted on is in the diagnosis."),
  firingTime: timestamp.describe("Since when the problem exists, according to the sender."),
  receivedTime: timestamp.describe("When we heard of it."),
  signalLabels: stringMap.describe("Labels of the first signal.").optional(),
  signalAnnotations: stringMap.describe("Annotations of the first signal.").optional(),
  originalPayload: z.string().describe("The first signal as it arrived, in JSON.").optional(),
});

const signalTexts = ["signalLabels", "signalAnnotations", "originalPayload"] as const;

const spec = specFields.meta({
  description:
    "The problem as it was first reported. It never changes; labels, annotations and payload are removed when the incident becomes a tombstone.",
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
  firingAt: timestamp.describe("Since when it fires, by the sender's clock."),
  resolvedAt: timestamp
    .describe("When it ended, by the same clock. Until it fires later than that, it is over.")
    .optional(),
  severity: severity.describe("Its severity, if that differs from the first signal's.").optional(),
  subject: targetText
    .describe("The object that it names, in canonical form, if the first signal named another.")
    .optional(),
  labels: stringMap.describe("Its labels that differ from the first signal's.").optional(),
  withoutLabels: z.array(z.string()).describe("Labels of the first signal that it does not have.").optional(),
  annotations: stringMap.describe("Its annotations that differ from the first signal's.").optional(),
  withoutAnnotations: z.array(z.string()).describe("Annotations of the first signal that it does not have.").optional(),
  isTooLarge: z
    .boolean()
    .describe("True if its labels and annotations are too large to be kept here. Rules do not see such a series.")
    .optional(),
});

const deduplication = z.strictObject({
  firstSeenAt: timestamp.describe("When the first signal came."),
  lastSeenAt: timestamp.describe("When the latest signal came."),
  occurrenceCount: count.describe("How many signals came."),
  occurrencesByWriter: z
    .record(z.string(), count)
    .describe("How many of them each gateway counted: absolute figures, so that writing one twice changes nothing.")
    .optional(),
  series: z
    .record(z.string(), series)
    .describe("The sender's alerts that this incident is made of, by a hash of their identity: at most 64.")
    .optional(),
  hasMoreSeries: z
    .boolean()
    .describe("True if more series were reported than are listed. They are counted, but rules do not see them.")
    .optional(),
  severity: severity.describe("The highest severity among the series that fire. It is the one that counts.").optional(),
});

const diagnosis = z.strictObject({
  target: targetText.describe("What to act on, in canonical form."),
  workflowId: workflowId.describe("The workflow that is to be run."),
  parameters: parameters.describe("Its parameters.").optional(),
  rule: z.string().describe("The rule that said so.").optional(),
  deferWhile: z
    .strictObject({
      rules: z.array(z.string()).describe("The rules of the cause."),
      within: z.string().describe("The node, namespace or target that cause and symptom have in common."),
    })
    .describe("It waits while an incident of its cause is open.")
    .optional(),
});

const block = z.strictObject({
  reason: z.enum(blockReasonNames).describe("Which check said no."),
  cause: z.enum(recentCauses).describe("For RecentlyRemediated: after failures, or after a success.").optional(),
  message: text.describe("Why, for people, and what can be done."),
  until: timestamp.describe("When it clears by itself, if that is known.").optional(),
  holder: holder.describe("Who holds the target, for ResourceBusy.").optional(),
  decision: z.string().describe("Id of the recorded decision in the ledger.").optional(),
});

const diagnosed = diagnosis.describe("What the analysis found.");
const common = {
  message: z.string().describe("Where it stands, in one sentence.").optional(),
  deduplication: deduplication.describe("How often it was reported.").optional(),
  follows: executionRef.describe("The execution of another incident whose success this one will share.").optional(),
  executionRefs: listByKey("uid", executionRef).describe("The executions started for it, oldest first.").optional(),
  requiresManualReview: z.boolean().describe("True if a person has to look.").optional(),
  startTime: timestamp.describe("When work on it began.").optional(),
  resolvedAt: timestamp.describe("When the sender said that the problem is over.").optional(),
  recurredAt: timestamp.describe("When it was last reported again after a run that had succeeded.").optional(),
  conditions: conditions.describe("Steps on the way, for tools that wait for them.").optional(),
};
const open = { diagnosis: diagnosed.optional(), ...common };
const completedAt = timestamp.describe("When it was closed.");

const status = z
  .discriminatedUnion("phase", [
    z.strictObject({ phase: z.enum(["Pending", "Analyzing"]).describe("How far the incident has come."), ...open }),
    z.strictObject({ phase: z.enum(["AwaitingApproval", "Executing", "Verifying"]), ...common, diagnosis: diagnosed }),
    z.strictObject({
      phase: z.literal("Blocked"),
      block: block.describe("What stands in the way, and what clears it."),
      ...open,
    }),
    z.strictObject({
      phase: z.literal("Completed"),
      outcome: z.enum(["Remediated", "ResolvedDuringRun", "Inconclusive", "Observed"]).describe("How it ended."),
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
    description: "How far it has come.",
    "x-kubernetes-validations": [finalPhases(closedIncidentPhases)],
  });

export const remediationRequests = defineKind<RemediationRequest>({
  kind: "RemediationRequest",
  shortName: "rr",
  description: "RemediationRequest is an incident: one open problem, for all its reports and reporters.",
  spec,
  status,
  rules: [keepsTextsWhileOpen],
  selectable: ["spec.signalFingerprint"],
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Signal", type: "string", jsonPath: ".spec.signalName" },
    { name: "Target", type: "string", jsonPath: ".status.diagnosis.target", description: "What is to be acted on" },
    { name: "Workflow", type: "string", jsonPath: ".status.diagnosis.workflowId" },
    { name: "Blocked", type: "string", jsonPath: ".status.block.reason", description: "What stands in the way" },
    { name: "Outcome", type: "string", jsonPath: ".status.outcome" },
    { name: "Seen", type: "integer", jsonPath: ".status.deduplication.occurrenceCount", description: "Signals so far" },
    { name: "Severity", type: "string", jsonPath: ".status.deduplication.severity", priority: 1 },
    { name: "Cause", type: "string", jsonPath: ".status.block.cause", priority: 1 },
    { name: "Until", type: "string", jsonPath: ".status.block.until", priority: 1 },
    { name: "Fingerprint", type: "string", jsonPath: ".spec.signalFingerprint", priority: 1 },
    stalledColumn,
    ageColumn,
  ],
});
