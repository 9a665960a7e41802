import type { Fact, LedgerEvent } from "../ledger/index.ts";
import { annotationKeys, type KindsCache, type RemediationRequest, toObjectTarget } from "../resources/index.ts";
import type { Admission } from "./admission.ts";
import { seriesKey } from "./decide.ts";
import type { NamelessReport, Report } from "./identity/report.ts";
import type { IgnoredSignal } from "./ignored-signals.ts";

/**
 * The ledger event of an opening. It depends on the incident alone, so that every gateway that finds the opening unrecorded
 * appends the same event.
 */
export function openingEvent({ metadata, spec }: RemediationRequest, kinds: KindsCache["current"]): LedgerEvent {
  const { uid = "", name = "", annotations = {} } = metadata;
  const { [annotationKeys.sender]: sender, [annotationKeys.subject]: subject } = annotations;
  const reading = toObjectTarget(spec.targetResource, kinds);
  return {
    id: `${uid}/incident.created`,
    type: "incident.created",
    at: spec.receivedTime,
    facts: {
      fingerprint: spec.signalFingerprint,
      signal_name: spec.signalName,
      ...(spec.signalSource !== undefined && { signal_source: spec.signalSource }),
      severity: spec.severity,
      ...(sender !== undefined && { sender }),
      ...(reading.kind === "target" && { target_resource: reading.target.text }),
      ...(subject !== undefined && { subject }),
      firing_at: spec.firingTime,
      remediation_id: name,
    },
  };
}

/**
 * The ledger event of an admission. Openings are recorded before, and counted signals together, when they are written;
 * `moved` of them were counted before, on an incident that is closed now.
 */
export function admissionEvent(
  admission: Admission,
  report: Report | NamelessReport,
  moved?: number,
): LedgerEvent | undefined {
  const { fingerprint, receivedAt: at } = report;
  switch (admission.kind) {
    case "resolved":
    case "still-firing":
      return {
        id: `${uidOf(admission.incident)}/signal.resolved/${seriesKey(report.signal)}/${report.signal.endedAt ?? at}`,
        type: "signal.resolved",
        at,
        facts: { ...facts(report, admission), over: admission.kind === "resolved" },
      };
    case "refused":
    case "forbidden": {
      const { because, fix } = admission;
      return {
        id: `${fingerprint}/signal.refused/${at}`,
        type: "signal.refused",
        at,
        facts: { ...facts(report), because, fix },
      };
    }
    case "ignored":
      return {
        // Signals of several series may arrive at the same moment.
        id: [fingerprint, "signal.ignored", seriesKey(report.signal), report.signal.firingAt, at, moved ?? ""].join(
          "/",
        ),
        type: "signal.ignored",
        at,
        facts: {
          ...facts(report),
          because: admission.because,
          ...(moved === undefined ? {} : { occurrences: moved }),
        },
      };
    case "created":
    case "counted":
    case "invalid":
      return undefined;
  }
}

interface Stamp {
  /** Unique for each row. */
  readonly id: string;
  readonly at: string;
}

/** A part of a payload that reports nothing that fires or ends. */
export function notASignalEvent({ source, sender, because }: IgnoredSignal, { id, at }: Stamp): LedgerEvent {
  return {
    id: `${source}/signal.ignored/${id}`,
    type: "signal.ignored",
    at,
    facts: { signal_source: source, ...(sender === undefined ? {} : { sender }), because },
  };
}

/** A sender has reached the limit of rows for signals without effect. */
export function overflowEvent({ source, sender }: IgnoredSignal, stamp: Stamp): LedgerEvent {
  const because = "its sender has more signals without effect than are recorded one by one";
  return notASignalEvent({ source, sender, because }, stamp);
}

export interface WrittenCount {
  readonly writer: string;
  readonly occurrences: number;
  readonly at: string;
}

/** Signals that were counted on one incident since the last time. */
export function countedEvent(
  { metadata, spec, status }: RemediationRequest,
  { writer, occurrences, at }: WrittenCount,
): LedgerEvent {
  const { occurrenceCount = 0, occurrencesByWriter } = status?.deduplication ?? {};
  const own = occurrencesByWriter?.[writer] ?? 0;
  return {
    id: `${metadata.uid}/signals.counted/${writer}/${own}`,
    type: "signals.counted",
    at,
    facts: {
      remediation_id: metadata.name ?? "",
      fingerprint: spec.signalFingerprint,
      occurrences,
      occurrence_count: occurrenceCount,
      writer,
    },
  };
}

function facts(
  report: Report | NamelessReport,
  admission?: { readonly incident: RemediationRequest },
): Readonly<Record<string, Fact>> {
  const { signal, fingerprint } = report;
  return {
    fingerprint,
    signal_name: signal.name,
    signal_source: signal.source,
    severity: signal.severity,
    ...(signal.sender === undefined ? {} : { sender: signal.sender }),
    ...("owner" in report ? { target_resource: report.owner.target, subject: report.subject } : {}),
    firing_at: signal.firingAt,
    ...(signal.endedAt === undefined ? {} : { ended_at: signal.endedAt }),
    ...(admission ? { remediation_id: admission.incident.metadata.name ?? "" } : {}),
  };
}

function uidOf({ metadata }: RemediationRequest): string {
  return metadata.uid ?? "";
}
