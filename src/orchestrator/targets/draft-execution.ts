import { iso, nameHash } from "../../kube/index.ts";
import { askingIncident } from "../../policy/index.ts";
import {
  annotationKeys,
  labelKeys,
  managedBy,
  type RemediationRequest,
  type RemediationWorkflow,
  remediationRequests,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import { requireDiagnosis } from "../statuses.ts";

/** Drafts the next execution of an incident. Its name derives from the number of earlier ones, so it is created once. */
export function draftExecution(
  incident: RemediationRequest,
  { spec: entry }: RemediationWorkflow,
  approval?: string,
): WorkflowExecution {
  const { name = "", namespace = "", uid = "" } = incident.metadata;
  const { target, parameters } = requireDiagnosis(incident);
  const { workflowId, version, containerImage, engine, serviceAccountName } = entry;
  return {
    apiVersion: workflowExecutions.apiVersion,
    kind: workflowExecutions.kind,
    metadata: {
      name: `${name}-${(incident.status?.executionRefs?.length ?? 0) + 1}`,
      namespace,
      labels: {
        [managedBy.label]: managedBy.value,
        [labelKeys.targetHash]: nameHash(target),
        [labelKeys.workflowId]: workflowId,
      },
      annotations: {
        [annotationKeys.signalFingerprint]: incident.spec.signalFingerprint,
        [annotationKeys.incidentSince]: iso(askingIncident(incident).sinceMs),
        ...(approval === undefined ? {} : { [annotationKeys.approval]: approval }),
      },
      ownerReferences: [ownedBy(incident)],
    },
    spec: {
      workflowRef: {
        workflowId,
        version,
        containerImage,
        ...(engine === undefined ? {} : { engine }),
        ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
      },
      targetResource: target,
      ...(parameters === undefined ? {} : { parameters }),
      remediationRequestRef: { name, namespace, uid },
    },
  };
}

/** The objects of an incident are deleted with it. */
export function ownedBy({ metadata: { name = "", uid = "" } }: RemediationRequest) {
  return {
    apiVersion: remediationRequests.apiVersion,
    kind: remediationRequests.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
