import { iso } from "../../kube/index.ts";
import type { Fact, LedgerEvent, LedgerEventType } from "../../ledger/index.ts";
import { isVerifiedName, type NameGuarantee, type PolicyDecision, toStoredCheck } from "../../policy/index.ts";
import {
  type CancelRequest,
  closedStatus,
  type Diagnosis,
  type RemediationApprovalRequest,
  type RemediationApprovalRequestStatus,
  type RemediationRequest,
  type RemediationWorkflow,
  redactParameters,
  type WorkflowExecution,
} from "../../resources/index.ts";
import type { Verdict } from "../action.ts";

export function diagnosedEvent(
  incident: RemediationRequest,
  diagnosis: Diagnosis,
  { workflow, nowMs }: { readonly workflow: RemediationWorkflow | undefined; readonly nowMs: number },
): LedgerEvent {
  const { target, workflowId, rule, parameters } = diagnosis;
  return event(incident, "incident.diagnosed", iso(nowMs), {
    part: versionOf(incident),
    facts: {
      target_resource: target,
      workflow_id: workflowId,
      ...(rule === undefined ? {} : { rule }),
      ...(parameters === undefined ? {} : { parameters: redactParameters(parameters, workflow) }),
    },
  });
}

export interface Decided {
  readonly verdict: Verdict;
  readonly decision?: PolicyDecision;
  readonly execution?: WorkflowExecution;
  readonly message?: string;
  readonly nowMs: number;
}

/**
 * Returns the event of a decision, with every check. Replicas that observe different states may decide differently about one
 * version of the incident. Only one of them can write its decision into the status, but all are recorded.
 */
export function decidedEvent(
  incident: RemediationRequest,
  { verdict, decision, execution, message, nowMs }: Decided,
): LedgerEvent {
  const blocked = decision?.verdict === "block" ? decision : undefined;
  const detail = blocked?.reason ?? execution?.metadata.name;
  return event(incident, "incident.decided", iso(nowMs), {
    part: [versionOf(incident), verdict, ...(detail === undefined ? [] : [detail])].join("/"),
    facts: {
      verdict,
      message: message ?? decision?.message ?? "",
      ...(blocked ? { reason: blocked.reason, next_step: blocked.nextStep } : {}),
      ...(blocked?.cause === undefined ? {} : { cause: blocked.cause }),
      ...(blocked?.clearsAtMs === undefined ? {} : { clears_at: iso(blocked.clearsAtMs) }),
      ...(execution ? { execution: `${execution.metadata.namespace}/${execution.metadata.name}` } : {}),
      ...(decision ? { checks: decision.checks.map(toStoredCheck) } : {}),
    },
  });
}

export function recurredEvent(incident: RemediationRequest, completedMs: number): LedgerEvent {
  const at = incident.status?.deduplication?.lastSeenAt ?? incident.spec.receivedTime;
  return event(incident, "incident.recurred", at, {
    part: iso(completedMs),
    facts: { run_ended_at: iso(completedMs) },
  });
}

export function approvalRequestedEvent(
  incident: RemediationRequest,
  { metadata, spec }: RemediationApprovalRequest,
  nowMs: number,
): LedgerEvent {
  const { name = "" } = metadata;
  return event(incident, "approval.requested", iso(nowMs), {
    part: name,
    facts: { approval: name, required_by: spec.requiredBy },
  });
}

export function approvalAnsweredEvent(
  incident: RemediationRequest,
  approval: RemediationApprovalRequest,
  status: RemediationApprovalRequestStatus,
  knownSinceMs: NameGuarantee | undefined,
): LedgerEvent {
  return event(incident, "approval.answered", status.decidedAt, {
    part: approval.metadata.name ?? "",
    facts: answerFacts(approval, status, knownSinceMs),
  });
}

/** Returns the event of the answer to an approval without an incident. */
export function requestAnswered(
  approval: RemediationApprovalRequest,
  status: RemediationApprovalRequestStatus,
  knownSinceMs: NameGuarantee | undefined,
): LedgerEvent {
  const { targetResource, recommendedWorkflow } = approval.spec;
  return {
    id: `${approval.metadata.uid}/approval.answered`,
    type: "approval.answered",
    at: iso(Date.parse(status.decidedAt)),
    facts: {
      target_resource: targetResource,
      workflow_id: recommendedWorkflow.workflowId,
      ...answerFacts(approval, status, knownSinceMs),
    },
  };
}

function answerFacts(
  { metadata }: RemediationApprovalRequest,
  status: RemediationApprovalRequestStatus,
  knownSinceMs: NameGuarantee | undefined,
): Readonly<Record<string, Fact>> {
  const { name = "", creationTimestamp = "" } = metadata;
  const { decision } = status;
  if (status.decision === "Expired") return { approval: name, decision };
  const signableSinceMs = Date.parse(creationTimestamp);
  return {
    approval: name,
    decision,
    by: status.decidedBy,
    reason: status.decisionMessage,
    verified: isVerifiedName(status.decidedBy, { knownSinceMs, signableSinceMs }),
  };
}

/** Returns the event of a cancellation by an operator. */
export function cancelledEvent(
  incident: RemediationRequest,
  { by, reason, blocks }: CancelRequest,
  {
    cancellersKnownSinceMs,
    nowMs,
  }: { readonly cancellersKnownSinceMs?: NameGuarantee | undefined; readonly nowMs: number },
): LedgerEvent {
  // The annotation may have been set when the incident was created.
  const signableSinceMs = Date.parse(incident.metadata.creationTimestamp ?? "");
  const verified = isVerifiedName(by, { knownSinceMs: cancellersKnownSinceMs, signableSinceMs });
  return event(incident, "incident.cancelled", iso(nowMs), { facts: { by, verified, reason, blocks } });
}

/** Returns the event of the incident's end, from its status. */
export function closedEvent(incident: RemediationRequest): LedgerEvent {
  const status = closedStatus(incident);
  if (!status) throw new TypeError("only the end of a closed incident can be recorded");
  const { phase, outcome, completedAt, message = "", executionRefs = [], follows } = status;
  return event(incident, "incident.closed", completedAt, {
    facts: {
      phase,
      outcome,
      message,
      requires_manual_review: status.requiresManualReview ?? false,
      executions: executionRefs.map(({ namespace, name }) => `${namespace}/${name}`),
      ...(follows ? { followed: `${follows.namespace}/${follows.name}` } : {}),
      occurrences: status.deduplication?.occurrenceCount ?? 1,
    },
  });
}

export function deletedEvent(incident: RemediationRequest, nowMs: number): LedgerEvent {
  return event(incident, "incident.deleted", iso(nowMs), { facts: {} });
}

interface EventDraft {
  /** Distinguishes events of one type. Without it the event occurs once per incident. */
  readonly part?: string;
  readonly facts: Readonly<Record<string, Fact>>;
}

function event(
  incident: RemediationRequest,
  type: LedgerEventType,
  at: string,
  { part, facts }: EventDraft,
): LedgerEvent {
  const { metadata, spec, status } = incident;
  const { target, workflowId } = status?.diagnosis ?? {};
  return {
    id: [metadata.uid, type, ...(part === undefined ? [] : [part])].join("/"),
    type,
    at,
    facts: {
      remediation_id: metadata.name ?? "",
      fingerprint: spec.signalFingerprint,
      signal_name: spec.signalName,
      ...(target === undefined ? {} : { target_resource: target }),
      ...(workflowId === undefined ? {} : { workflow_id: workflowId }),
      ...facts,
    },
  };
}

function versionOf({ metadata }: RemediationRequest): string {
  return metadata.resourceVersion ?? "";
}
