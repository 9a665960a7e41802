import { iso } from "../kube/index.ts";
import type { LedgerEvent } from "../ledger/index.ts";
import type { NotificationRequest, NotificationRequestStatus } from "../resources/index.ts";

/** Returns the ledger event of a settled notice. Its id makes a repeated append harmless. */
export function settledEvent(
  { metadata, spec }: NotificationRequest,
  status: NotificationRequestStatus,
  atMs: number,
): LedgerEvent {
  const type =
    status.phase === "Failed" ? "notice.failed" : status.phase === "Digested" ? "notice.digested" : "notice.sent";
  const { context = {}, remediationRequestRef } = spec;
  const told = status.deliveryAttempts?.flatMap(({ channel, status }) => (status === "success" ? [channel] : [])) ?? [];
  return {
    id: `${metadata.uid}/${type}`,
    type,
    at: iso(atMs),
    facts: {
      notice: `${metadata.namespace}/${metadata.name}`,
      event_type: spec.eventType,
      severity: spec.severity,
      message: status.message ?? spec.message,
      channels: told,
      ...(context.targetResource ? { target_resource: context.targetResource } : {}),
      ...(context.workflowId ? { workflow_id: context.workflowId } : {}),
      ...(context.execution ? { execution: `${metadata.namespace}/${context.execution}` } : {}),
      ...(remediationRequestRef ? { remediation_id: remediationRequestRef.name } : {}),
      ...(status.phase === "Digested" ? { digest: status.digest } : {}),
    },
  };
}
