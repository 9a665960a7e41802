import { nameHash } from "../../kube/index.ts";
import {
  annotationKeys,
  incidentName,
  labelKeys,
  managedBy,
  type RemediationRequest,
  remediationRequests,
} from "../../resources/index.ts";
import { toStorable } from "../../telemetry/index.ts";
import type { Report } from "../identity/report.ts";

/**
 * Must be increased when the same signal may get another subject or other fingerprint fields: a gateway of the next version
 * can then find the open incidents of this one.
 */
const identityVersion = "3";

/** In characters. The stored payload is only for display. */
const maxPayloadLength = 16 * 1_024;

/** The incident that `report` opens, as the `n`-th of its fingerprint. */
export function draftIncident(report: Report, n: number, namespace: string): RemediationRequest {
  const { signal, fingerprint, subject, owner, receivedAt, distinctBy = [] } = report;
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
        [labelKeys.latestOf]: nameHash(fingerprint),
        [labelKeys.subjectHash]: nameHash(subject),
      },
      annotations: {
        [annotationKeys.subject]: subject,
        ...(signal.sender === undefined ? {} : { [annotationKeys.sender]: signal.sender }),
        ...(distinctBy.length > 0 && { [annotationKeys.distinctBy]: distinctBy.join() }),
        [annotationKeys.identityVersion]: identityVersion,
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

/** The reason why a payload cannot be stored. */
export function payloadProblem(payload: unknown): string | undefined {
  try {
    JSON.stringify(payload);
    return undefined;
  } catch {
    return "the signal is nested too deeply";
  }
}

function payloadText(payload: unknown): string {
  const text = toStorable(JSON.stringify(payload) ?? "");
  if (text.length <= maxPayloadLength) return text;
  // ASCII dots, because a single other character would double the memory of the text.
  return `${text.slice(0, maxPayloadLength)}... (truncated from ${text.length} characters)`;
}
