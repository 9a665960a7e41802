import { iso, nameHash } from "../../kube/index.ts";
import {
  incidentSeverity,
  managedBy,
  type RemediationApprovalRequest,
  type RemediationRequest,
  type RemediationWorkflow,
  remediationApprovalRequests,
} from "../../resources/index.ts";
import { parseDuration } from "../../time/index.ts";
import type { OrchestratorSettings } from "../settings.ts";
import { requireDiagnosis } from "../statuses.ts";
import { ownedBy } from "../targets/draft-execution.ts";

/** Returns the name of an approval. Another diagnosis or version needs another approval. */
export function approvalName(incident: RemediationRequest, { n, version, round }: ApprovalNumber): string {
  const { target, workflowId, parameters = {} } = requireDiagnosis(incident);
  const rounds = round === 0 ? [] : [round];
  const subject = JSON.stringify([target, workflowId, version, Object.entries(parameters).sort(), ...rounds]);
  return `${incident.metadata.name}-${n}-${nameHash(subject).slice(0, 8)}`;
}

interface ApprovalNumber {
  /** The number of the run that it is for. */
  readonly n: number;
  /** The version of the workflow. */
  readonly version: string | undefined;
  /** How many approvals for the same run were withdrawn. */
  readonly round: number;
}

/** Whether an approval was expired before its time, because the incident no longer needed it: it may be requested again. */
export function isWithdrawn({ spec, status }: RemediationApprovalRequest): boolean {
  return status?.decision === "Expired" && Date.parse(status.decidedAt) < Date.parse(spec.requiredBy);
}

export interface ApprovalDraft {
  readonly name: string;
  readonly entry: RemediationWorkflow;
  readonly nowMs: number;
  readonly settings: OrchestratorSettings;
}

/** Drafts the request for an approval. */
export function draftApproval(
  incident: RemediationRequest,
  { name, entry, nowMs, settings }: ApprovalDraft,
): RemediationApprovalRequest {
  const { metadata, spec } = incident;
  const { target, parameters, rule } = requireDiagnosis(incident);
  const { workflowId, version, approval } = entry.spec;
  const waitMs = parseDuration(approval?.expiresAfter ?? "") ?? settings.approvalExpiresAfterMs;
  return {
    apiVersion: remediationApprovalRequests.apiVersion,
    kind: remediationApprovalRequests.kind,
    metadata: {
      name,
      namespace: metadata.namespace ?? "",
      labels: { [managedBy.label]: managedBy.value },
      ownerReferences: [ownedBy(incident)],
    },
    spec: {
      remediationRequestRef: {
        name: metadata.name ?? "",
        namespace: metadata.namespace ?? "",
        uid: metadata.uid ?? "",
      },
      targetResource: target,
      recommendedWorkflow: {
        workflowId,
        version,
        ...(parameters === undefined ? {} : { parameters }),
        ...(rule === undefined ? {} : { rationale: `selected by rule ${rule}` }),
      },
      whyApprovalRequired: `workflow ${workflowId} requires an approval before each run`,
      investigationSummary: `${spec.signalName} (${incidentSeverity(incident)}), reported ${incident.status?.deduplication?.occurrenceCount ?? 1} times since ${spec.firingTime}`,
      requiredBy: iso(nowMs + waitMs),
    },
  };
}
