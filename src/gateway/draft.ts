import { nameHash } from "../kube/index.ts";
import {
  annotationKeys,
  incidentName,
  labelKeys,
  managedBy,
  type RemediationRequest,
  remediationRequests,
} from "../resources/index.ts";
import type { Report } from "./report.ts";

/** Of a signal as it arrived. What is larger is no alert, and would not fit into an object. */
const largestPayload = 256 * 1024;

/** The incident that `report` opens, as the `n`-th of its fingerprint. */
export function draftIncident(report: Report, n: number, namespace: string): RemediationRequest {
  const { signal, fingerprint, subject, owner, receivedAt, identityVersion } = report;
  const { kind, name, namespace: place, apiVersion } = owner.reference;
  return {
    apiVersion: remediationRequests.apiVersion,
    kind: remediationRequests.kind,
    metadata: {
      name: incidentName(fingerprint, n),
      namespace,
      labels: {
        [managedBy.label]: managedBy.value,
        [labelKeys.fingerprintHash]: nameHash(fingerprint),
        [labelKeys.subjectHash]: nameHash(subject),
      },
      annotations: {
        [annotationKeys.subject]: subject,
        ...(identityVersion === undefined ? {} : { [annotationKeys.identityVersion]: identityVersion }),
      },
    },
    spec: {
      signalFingerprint: fingerprint,
      signalName: signal.name,
      signalSource: signal.source,
      severity: signal.severity,
      targetResource: { kind, name, ...(place ? { namespace: place } : {}), ...(apiVersion ? { apiVersion } : {}) },
      firingTime: signal.firingAt,
      receivedTime: receivedAt,
      signalLabels: signal.labels,
      signalAnnotations: signal.annotations,
      originalPayload: payloadText(signal.payload),
    },
  };
}

/** What is wrong with a payload that cannot be kept. */
export function payloadProblem(payload: unknown): string | undefined {
  try {
    if (Buffer.byteLength(payloadText(payload)) <= largestPayload) return undefined;
    return `the signal is larger than ${largestPayload / 1024} KiB`;
  } catch {
    return "the signal is nested too deeply";
  }
}

function payloadText(payload: unknown): string {
  return JSON.stringify(payload) ?? "";
}
