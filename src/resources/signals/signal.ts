import { createHash } from "node:crypto";
import type { ObjectReference } from "../target/object-target.ts";
import type { Target } from "../target/target.ts";

/** One thing that was reported: an alert of a batch, an Event, the condition of a node. */
export interface Signal {
  /** `resolved` closes what `firing` opened, and never opens anything. */
  readonly status: "firing" | "resolved";
  /** Who reported it, such as `alertmanager`. At most 63 characters. */
  readonly source: string;
  /** Name of the signal, such as the name of the alert. At most 253 characters. */
  readonly name: string;
  /** How bad it is, in the sender's own word. At most 50 characters. */
  readonly severity: string;
  /** The subject, as the sender names it: often a Pod, whose owner counts. Absent if no object is named. */
  readonly subject?: ObjectReference;
  /** The subject to use if the kind of `subject` is unknown in this cluster. */
  readonly coarserSubject?: ObjectReference;
  /** Without `subject`: it is about the Node that can be found by this. */
  readonly node?: NodeHint;
  /** Without `subject` and `node`: why no object is named. */
  readonly noSubject?: string;
  /** Labels that belong to its identity, because `subject` is coarser than the actual subject, or absent. */
  readonly distinctBy?: readonly string[];
  /** The identities that earlier versions gave it, the latest first: incidents that are open under them are still this one's. */
  readonly formerIdentities?: readonly FormerIdentity[];
  /**
   * Which of the sender's alerts this is. Several of them may be one incident: it is over when all of them are, and the
   * times below are compared only among signals of one series, which have one clock.
   */
  readonly series: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Since when the problem exists, according to the sender. RFC 3339 with milliseconds. */
  readonly firingAt: string;
  /** Until when, for `resolved`. */
  readonly endedAt?: string;
  /** The name of the token that it came with; absent for signals that we watch ourselves. */
  readonly sender?: string;
  /** The signal as it arrived. */
  readonly payload: unknown;
}

/** The fields from which an earlier version made the identity of a signal's incident. */
export interface FormerIdentity {
  /** The version of the rules for identity, as incidents have it. */
  readonly version: string;
  readonly subject: ObjectReference;
  readonly distinctBy?: readonly string[];
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
      /** How many more the sender has left out. */
      readonly truncated: number;
    }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

/** How one field of a signal was derived: from which part of the payload, and its value or why there is none. */
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

/** Goes up whenever the same signal would get another fingerprint, so that old and new ones are never mixed up. */
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

/** The same for one choice of fields. It remembers `most` fingerprints: nearly every signal was reported before. */
export function fingerprinter(
  fields: readonly FingerprintField[],
  most = 1_000,
): (signal: Signal, target: Target | undefined) => string {
  const sorted = [...new Set(fields)].sort();
  const known = new Map<string, string>();
  return (signal, target) => {
    const chosen = withDistinguishing(sorted, signal);
    let key = chosen === sorted ? "" : `${chosen.join()};`;
    for (const field of chosen) {
      const fact = fieldValue(field, signal, target);
      // With its length, so that no two lists of facts look alike.
      key += fact === null ? "-" : `${fact.length}:${fact}`;
    }
    const found = known.get(key);
    if (found !== undefined) return found;
    const facts = JSON.stringify(chosen.map((field) => [field, fieldValue(field, signal, target)]));
    const fingerprint = `${version}:${createHash("sha256").update(facts).digest("hex")}`;
    if (known.size >= most) known.clear();
    if (most > 0) known.set(key, fingerprint);
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

/** `text` as RFC 3339 in UTC with milliseconds; undefined if it is no time of the years 0000 to 9999 with an offset. */
export function signalTime(text: unknown): string | undefined {
  if (typeof text !== "string" || text.length > 64 || !rfc3339.test(text)) return undefined;
  const ms = Date.parse(text);
  const iso = Number.isNaN(ms) ? "" : new Date(ms).toISOString();
  return iso.length === "0000-00-00T00:00:00.000Z".length ? iso : undefined;
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
