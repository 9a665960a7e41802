import { iso, nameHash } from "../../kube/index.ts";
import type { Blocked } from "../../policy/index.ts";
import {
  type BlockReason,
  type NotificationRequest,
  notificationRequests,
  type RemediationApprovalRequest,
  type RemediationRequest,
  type WorkflowExecution,
} from "../../resources/index.ts";
import { requireDiagnosis } from "../statuses.ts";
import { ownedBy } from "../targets/draft-execution.ts";

// The executor creates the notices about runs; these are the notices about incidents.

interface ReviewCause {
  readonly reason: BlockReason;
  readonly message: string;
  readonly nextStep?: string;
  readonly earlierUid: string | undefined;
}

/** A manual review is needed. Created once for all incidents that wait for the same cause. */
export function reviewNeeded(
  incident: RemediationRequest,
  { reason, message, nextStep, earlierUid }: ReviewCause,
): NotificationRequest {
  const { target, workflowId } = requireDiagnosis(incident);
  return incidentNotice(incident, `${target}/${workflowId}/${reason}/${earlierUid}`, {
    eventType: "ManualReviewRequired",
    severity: "critical",
    message: `No workflow runs for ${incident.spec.signalName} on ${target}: ${message}`,
    context: {
      workflowId,
      targetResource: target,
      skipReason: reason,
      ...(nextStep === undefined ? {} : { nextStep }),
    },
  });
}

/**
 * An incident waits, and no operator has to act. Created once for all incidents that wait for the same cause:
 * without a rule, the cause is the name of the signal. The notifier collects these notices in digests.
 */
export function incidentBlocked(incident: RemediationRequest, decision: Blocked): NotificationRequest {
  const { reason, message, nextStep, clearsAtMs, holder, earlier } = decision;
  const { target, workflowId } = incident.status?.diagnosis ?? {};
  const cause = holder?.executionUid ?? earlier?.executionUid ?? message;
  const isAboutRules = reason === "NoMatchingRule" || target === undefined;
  const about = isAboutRules
    ? `${incident.spec.signalSource}/${incident.spec.signalName}/blocked/${reason}`
    : `${target}/${workflowId}/${reason}/${cause}`;
  return incidentNotice(incident, about, {
    eventType: "IncidentBlocked",
    severity: "info",
    message: `${incident.spec.signalName}${target ? ` on ${target}` : ""} waits: ${message}`,
    context: {
      ...(workflowId === undefined ? {} : { workflowId }),
      ...(target === undefined ? {} : { targetResource: target }),
      skipReason: reason,
      ...(holder === undefined ? {} : { conflictingWorkflow: holder.executionName }),
      ...(clearsAtMs === undefined ? {} : { until: iso(clearsAtMs) }),
      nextStep,
    },
  });
}

/** An approval was not given in time, and the incident is closed without a run. */
export function approvalExpired(
  incident: RemediationRequest,
  { metadata, spec }: RemediationApprovalRequest,
): NotificationRequest {
  const { target, workflowId } = requireDiagnosis(incident);
  return incidentNotice(incident, `${incident.metadata.uid}/${metadata.name}/expired`, {
    eventType: "ApprovalExpired",
    severity: "warning",
    message: `${workflowId} did not act on ${target} because of ${incident.spec.signalName}: it was not approved before ${spec.requiredBy}`,
    context: {
      workflowId,
      targetResource: target,
      nextStep: `interlock run ${workflowId} --target ${target}, if it is still wanted; a new signal requests it again`,
    },
  });
}

/** An approval that a user requested with `interlock run` was not given in time. */
export function requestExpired({ metadata, spec }: RemediationApprovalRequest): NotificationRequest {
  const { targetResource, recommendedWorkflow, requiredBy } = spec;
  const { workflowId } = recommendedWorkflow;
  return toNotice(
    `${metadata.uid}/expired`,
    { namespace: metadata.namespace ?? "" },
    {
      eventType: "ApprovalExpired",
      severity: "warning",
      message: `${workflowId} did not act on ${targetResource}: the request ${metadata.name} was not approved before ${requiredBy}`,
      context: {
        workflowId,
        targetResource,
        nextStep: `interlock run ${workflowId} --target ${targetResource}, if it is still wanted`,
      },
    },
  );
}

/** An approval is requested. */
export function approvalRequired(
  incident: RemediationRequest,
  approval: RemediationApprovalRequest,
): NotificationRequest {
  const { target, workflowId } = requireDiagnosis(incident);
  const { name = "" } = approval.metadata;
  return incidentNotice(incident, `${incident.metadata.uid}/${name}`, {
    eventType: "ApprovalRequired",
    severity: "warning",
    message: `${workflowId} requires an approval to act on ${target}, because of ${incident.spec.signalName}. It expires at ${approval.spec.requiredBy}`,
    context: {
      workflowId,
      targetResource: target,
      until: approval.spec.requiredBy,
      nextStep: `interlock approve ${name} --reason "…", or interlock reject ${name} --reason "…"`,
    },
  });
}

/** One notice for all incidents that shared the success of one execution. */
export function sharedSuccess(
  execution: WorkflowExecution,
  followers: readonly RemediationRequest[],
): NotificationRequest {
  const { name = "", namespace = "", uid = "", ownerReferences } = execution.metadata;
  const entries = followers.map(({ metadata, spec }) => ({ name: metadata.name ?? "", message: spec.signalName }));
  const { workflowRef, targetResource, remediationRequestRef } = execution.spec;
  const { workflowId } = workflowRef;
  return toNotice(
    `${uid}/followers`,
    { namespace, ...(ownerReferences && { ownerReferences }) },
    {
      eventType: "WorkflowCompleted",
      severity: "info",
      message: `${entries.length} more ${entries.length === 1 ? "incident" : "incidents"} shared the success of ${name}`,
      context: { workflowId, targetResource, execution: name, entries },
      ...(remediationRequestRef && { remediationRequestRef }),
    },
  );
}

function incidentNotice(
  incident: RemediationRequest,
  about: string,
  spec: NotificationRequest["spec"],
): NotificationRequest {
  const { name = "", namespace = "", uid = "" } = incident.metadata;
  const metadata = { namespace, ownerReferences: [ownedBy(incident)] };
  return toNotice(about, metadata, { ...spec, remediationRequestRef: { name, namespace, uid } });
}

/** Drafts a notice whose name derives from `about`, so it is created once. */
function toNotice(
  about: string,
  metadata: NotificationRequest["metadata"],
  spec: NotificationRequest["spec"],
): NotificationRequest {
  const { apiVersion, kind } = notificationRequests;
  return { apiVersion, kind, metadata: { name: `notif-${nameHash(about)}`, ...metadata }, spec };
}
