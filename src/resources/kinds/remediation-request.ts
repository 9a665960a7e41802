import type { KubeObject } from "../../kube/index.ts";
import type { Wire } from "../../schema/index.ts";
import { ageColumn, defineKind, stalledColumn } from "./define-kind.ts";
import { closedIncidentPhases } from "./phases-and-limits.ts";
import type { block, deduplication, diagnosis, series, spec, status } from "./schemas/remediation-request.ts";

/** An incident: one open problem, reported by one or many signals with the same fingerprint. */
export interface RemediationRequest extends KubeObject {
  readonly spec: RemediationRequestSpec;
  readonly status?: RemediationRequestStatus;
}

export type RemediationRequestSpec = Wire<typeof spec>;
export type RemediationRequestStatus = Wire<typeof status>;
export type Diagnosis = Wire<typeof diagnosis>;
export type Deduplication = Wire<typeof deduplication>;
/** One of the sender's alerts, as an incident stores it. */
export type IncidentSeries = Wire<typeof series>;
export type IncidentBlock = Wire<typeof block>;

/**
 * The incident for caches: without the labels, annotations and payload of its signal. They may be long, and every incident has
 * them. The few decisions that need them read the incident.
 */
export function withoutSignalTexts(incident: RemediationRequest): RemediationRequest {
  if (!hasSignalTexts(incident)) return incident;
  const { signalLabels: _labels, signalAnnotations: _annotations, originalPayload: _payload, ...spec } = incident.spec;
  return { ...incident, spec };
}

/** The merge patch of a spec that removes the texts of its signal. */
export const signalTextsRemoved = { signalLabels: null, signalAnnotations: null, originalPayload: null };

/** Whether an incident has the fields that caches leave out. */
export function hasSignalTexts({ spec }: RemediationRequest): boolean {
  return [spec.signalLabels, spec.signalAnnotations, spec.originalPayload].some((texts) => texts !== undefined);
}

type ClosedStatus = Extract<RemediationRequestStatus, { readonly completedAt: string }>;

/** The status of an incident that has ended: the next signal opens a new one. Undefined while it is open. */
export function closedStatus({ status }: RemediationRequest): ClosedStatus | undefined {
  const isClosed = (closedIncidentPhases as readonly unknown[]).includes(status?.phase);
  return isClosed ? (status as ClosedStatus) : undefined;
}

export function isClosedIncident(incident: RemediationRequest): boolean {
  return closedStatus(incident) !== undefined;
}

export const remediationRequests = defineKind<RemediationRequest>({
  kind: "RemediationRequest",
  shortName: "rr",
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
