import { hash } from "node:crypto";
import type { ObjectReference } from "../target/object-target.ts";
import type { Target } from "../target/target.ts";

/** One reported item: an alert of a batch, an Event, the condition of a node. */
export interface Signal {
  /** `resolved` ends a series that fired, and never opens an incident. */
  readonly status: "firing" | "resolved";
  /** The source, such as `alertmanager`. At most 63 characters. */
  readonly source: string;
  /** Name of the signal, such as the name of the alert. At most 253 characters. */
  readonly name: string;
  /** The severity, in the sender's own word. At most 50 characters. */
  readonly severity: string;
  /** The subject, as the sender names it: often a Pod, whose owner counts. Absent if no object is named. */
  readonly subject?: ObjectReference;
  /** The subject to use if the kind of `subject` is unknown in this cluster. */
  readonly coarserSubject?: ObjectReference;
  /** Without `subject`: names and addresses by which the Node that the signal is about can be found. */
  readonly node?: NodeHint;
  /** Without `subject` and `node`: the reason why no object is named. */
  readonly noSubject?: string;
  /** Labels that belong to its identity, because `subject` is coarser than the actual subject, or absent. */
  readonly distinctBy?: readonly string[];
  /**
   * Identifies the alert of the sender. An incident may have several series, and ends when all of them have ended. The times
   * below are compared only within one series, because they come from one clock.
   */
  readonly series: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** When the problem began, according to the sender. RFC 3339 with milliseconds. */
  readonly firingAt: string;
  /** It reports what happened at `firingAt`: another one of its series with the same time reports the same again. */
  readonly isOccurrence?: boolean;
  /** When it ended, for `resolved`. */
  readonly endedAt?: string;
  /** The sender by its token; absent for signals of the gateway's own watches. */
  readonly sender?: string;
  /** The original payload of the signal. */
  readonly payload: unknown;
}

/** The names by which a Node can be found. */
export interface NodeHint {
  /** Names that the Node may have, the best first. */
  readonly names: readonly string[];
  /** Addresses that the Node may have. */
  readonly addresses: readonly string[];
  /** A Pod that runs on it. */
  readonly pod?: ObjectReference;
}

/** The result of reading one signal of a payload. Problems are whole sentences that name the field. */
export type SignalReading =
  | { readonly kind: "signal"; readonly signal: Signal }
  /** Part of the payload reports nothing that fires or ends. */
  | { readonly kind: "ignored"; readonly because: string }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

/** The result of reading a payload. An invalid signal does not affect the others. */
export type PayloadReading =
  | {
      readonly kind: "signals";
      readonly readings: readonly SignalReading[];
      /** The number of signals that the sender left out. */
      readonly truncated: number;
    }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

/** The derivation of one field of a signal: the part of the payload, and the value or the problem. */
export interface FieldTrace {
  readonly field: string;
  readonly from: string;
  /** Absent if the payload has no value for the field. */
  readonly value?: string;
  readonly problem?: string;
}

/** Port: converts the payload of one kind of sender to signals. Pure, and never throws for a payload. */
export interface SignalReader {
  /** For tokens, metrics and the record: `alertmanager`. */
  readonly source: string;
  /** `receivedAt` stands in for times that the sender leaves out. */
  read(body: unknown, receivedAt: string): PayloadReading;
  /** The derivation of each signal that `read` returns for the same body, in the same order, for a dry run. */
  explain(body: unknown, receivedAt: string): readonly (readonly FieldTrace[])[];
}

/** The derivation of signals by a fixed table: pairs of a field of the signal and the part of the payload it is read from. */
export function explainReadings(
  reading: PayloadReading,
  table: readonly (readonly [field: keyof Signal, from: string])[],
): readonly (readonly FieldTrace[])[] {
  if (reading.kind === "problems") return [];
  return reading.readings.map((one) => {
    if (one.kind !== "signal") return [];
    return table.map(([field, from]) => ({ field, from, ...valueText(one.signal[field]) }));
  });
}

const maxTraceLength = 200;

function valueText(value: unknown): Pick<FieldTrace, "value"> {
  if (value === undefined) return {};
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return { value: text.length <= maxTraceLength ? text : `${text.slice(0, maxTraceLength)}…` };
}

/** The fields that a fingerprint can consist of. */
export type FingerprintField = "source" | "name" | "severity" | "target" | `labels.${string}`;

export const defaultFingerprintFields: readonly FingerprintField[] = ["source", "name", "target"];

/** Increases with each change of the hash, so that old and new fingerprints are never equal. */
const version = "v1";

/**
 * The identity of a signal's incident: `v1:` and the SHA-256 of the chosen fields, names and values, as JSON in the
 * order of their names. `target` is the canonical owner, so that the Pods of one Deployment are one incident. A label
 * that a signal does not have is different from an empty one. The labels in `distinctBy` that a signal has are fields, too.
 */
export function computeFingerprint(
  signal: Signal,
  target: Target | undefined,
  fields = defaultFingerprintFields,
): string {
  return fingerprinter(fields, 0)(signal, target);
}

/** Computes fingerprints of `fields`, and caches up to `maxCached` of them: nearly every signal is a repeat. */
export function fingerprinter(
  fields: readonly FingerprintField[],
  maxCached = 1_000,
): (signal: Signal, target: Target | undefined) => string {
  const sorted = [...new Set(fields)].sort();
  const known = new Map<string, string>();
  return (signal, target) => {
    const chosen = withDistinguishing(sorted, signal);
    let key = chosen === sorted ? "" : `${chosen.join()};`;
    for (const field of chosen) {
      const fact = fieldValue(field, signal, target);
      // With its length, so that different lists of facts have different keys.
      key += fact === null ? "-" : `${fact.length}:${fact}`;
    }
    const found = known.get(key);
    if (found !== undefined) return found;
    const facts = JSON.stringify(chosen.map((field) => [field, fieldValue(field, signal, target)]));
    const fingerprint = `${version}:${hash("sha256", facts)}`;
    if (known.size >= maxCached) known.clear();
    if (maxCached > 0) known.set(key, fingerprint);
    return fingerprint;
  };
}

function withDistinguishing(fields: readonly FingerprintField[], { distinctBy, labels }: Signal) {
  const more = distinctBy?.filter((label) => labels[label]).map((label): FingerprintField => `labels.${label}`) ?? [];
  return more.length === 0 ? fields : [...new Set([...fields, ...more])].sort();
}

function fieldValue(field: FingerprintField, signal: Signal, target: Target | undefined): string | null {
  switch (field) {
    case "source":
    case "name":
    case "severity":
      return signal[field];
    case "target":
      return target?.text ?? null;
    default:
      return signal.labels[field.slice("labels.".length)] ?? null;
  }
}

/** `text` as RFC 3339 in UTC with milliseconds; undefined unless it is a time with an offset, in the years 0000 to 9999. */
export function signalTime(text: unknown): string | undefined {
  if (typeof text !== "string" || text.length > 64 || !rfc3339.test(text)) return undefined;
  const ms = Date.parse(text);
  const iso = Number.isNaN(ms) ? "" : new Date(ms).toISOString();
  return iso.length === "0000-00-00T00:00:00.000Z".length ? iso : undefined;
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
