import { nameHash } from "../kube/index.ts";
import { type NotificationRequest, notificationRequests } from "./kinds/notification-request.ts";
import { closedStatus, type RemediationRequest, remediationRequests } from "./kinds/remediation-request.ts";

/** Returns the notice about the end of a closed incident. Its name derives from the incident, so there is one of it. */
export function closedNotice(incident: RemediationRequest): NotificationRequest | undefined {
  const { metadata, spec } = incident;
  const status = closedStatus(incident);
  if (!status) return undefined;
  const { diagnosis, outcome, message } = status;
  const { name = "", namespace = "", uid = "" } = metadata;
  const { apiVersion, kind } = notificationRequests;
  const owner = { apiVersion: remediationRequests.apiVersion, kind: remediationRequests.kind, name, uid };
  return {
    apiVersion,
    kind,
    metadata: {
      name: `notif-${nameHash(`${uid}/closed`)}`,
      namespace,
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      eventType: "IncidentClosed",
      severity: "info",
      message: `Incident ${spec.signalName} is closed as ${outcome}${message ? `: ${message}` : ""}`,
      ...(diagnosis ? { context: { workflowId: diagnosis.workflowId, targetResource: diagnosis.target } } : {}),
      remediationRequestRef: { name, namespace, uid },
    },
  };
}
