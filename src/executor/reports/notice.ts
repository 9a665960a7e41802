import { nameHash } from "../../kube/index.ts";
import {
  type NoticeContext,
  type NotificationRequest,
  notificationRequests,
  remediationRequests,
  type SkipDetails,
  type WorkflowExecution,
} from "../../resources/index.ts";
import type { Snapshot } from "../snapshot.ts";

/** Returns the notice about the end of an execution. Its name derives from the execution, so it is created once. */
export function endNotice({ execution, plan }: Snapshot): NotificationRequest | undefined {
  const { status } = execution;
  switch (status?.phase) {
    case "Completed":
      return notice(execution, {
        eventType: "WorkflowCompleted",
        severity: "info",
        message: `Workflow ${execution.spec.workflowRef.workflowId} succeeded in ${status.duration}`,
        context: noticeContext(execution, plan.target?.text),
      });
    case "Failed": {
      const { naturalLanguageSummary, requiresManualReview, reason, cancellation } = status.failureDetails;
      // The operator who cancelled it needs no notice.
      if (cancellation) return undefined;
      return notice(execution, {
        eventType: requiresManualReview ? "ManualReviewRequired" : "WorkflowFailed",
        severity: requiresManualReview ? "critical" : "warning",
        message: naturalLanguageSummary,
        context: { ...noticeContext(execution, plan.target?.text), failureReason: reason },
      });
    }
    case "Skipped":
      return notice(execution, {
        eventType: "WorkflowSkipped",
        severity: "info",
        message: `Workflow execution skipped: ${describeSkip(status.skipDetails)}`,
        context: { ...noticeContext(execution, plan.target?.text), ...skipContext(status.skipDetails) },
      });
    case "Pending":
    case "Running":
    case undefined:
      return undefined;
  }
}

/** A wait after failures has the same reason as one after a success, although nothing was remediated. */
function describeSkip(details: SkipDetails): string {
  if (isBackoff(details)) return "The same workflow failed here before it could act, and waits before the next attempt";
  return skipSentence[details.reason];
}

function isBackoff(details: SkipDetails): boolean {
  return details.reason === "RecentlyRemediated" && details.cause === "backoff";
}

const skipSentence: Record<SkipDetails["reason"], string> = {
  ResourceBusy: "Another workflow is remediating this resource",
  RecentlyRemediated: "The same workflow ran on this resource a short while ago",
  PreviousExecutionFailed: "The same workflow failed here while acting, and the failure is not acknowledged",
  ExhaustedRetries: "The same workflow failed here too often before it could act",
  Paused: "Automation is paused here",
  ObserveOnly: "The resource or the workflow is only observed",
};

function skipContext(details: SkipDetails): NoticeContext {
  return {
    skipReason: details.reason,
    ...("conflictingWorkflow" in details ? { conflictingWorkflow: details.conflictingWorkflow.name } : {}),
    ...("recentRemediation" in details && details.recentRemediation && !isBackoff(details)
      ? { recentRemediation: details.recentRemediation.name }
      : {}),
  };
}

function noticeContext({ metadata, spec }: WorkflowExecution, target = spec.targetResource): NoticeContext {
  return { workflowId: spec.workflowRef.workflowId, targetResource: target, execution: metadata.name ?? "" };
}

function notice({ metadata, spec: { remediationRequestRef } }: WorkflowExecution, spec: NotificationRequest["spec"]) {
  const { apiVersion, kind } = notificationRequests;
  const owner = remediationRequestRef?.uid && {
    ownerReferences: [
      {
        apiVersion: remediationRequests.apiVersion,
        kind: remediationRequests.kind,
        name: remediationRequestRef.name,
        uid: remediationRequestRef.uid,
        controller: true,
      },
    ],
  };
  return {
    apiVersion,
    kind,
    metadata: { name: `notif-${nameHash(`${metadata.uid}/ended`)}`, namespace: metadata.namespace ?? "", ...owner },
    spec: { ...spec, ...(remediationRequestRef ? { remediationRequestRef } : {}) },
  };
}
