import type { ObjectReference, Signal } from "../../resources/index.ts";

/** The subject of a signal, and the identity of its incident. */
export interface Identity {
  readonly fingerprint: string;
  /** The object that the signal named, in canonical form. */
  readonly subject: string;
  /** The owner of that object, whose incident it is: in canonical form, and as a Kubernetes reference. */
  readonly owner: { readonly target: string; readonly reference: ObjectReference };
  /** Labels that belong to the identity, because the rule for the signal acts on them. */
  readonly distinctBy?: readonly string[];
}

/** A signal and its identity: sufficient to open an incident, also after a restart. */
export interface Report extends Identity {
  readonly signal: Signal;
  /** By the API server's clock. */
  readonly receivedAt: string;
  /** Only for the identity of an open incident by former rules or kinds: the signal's identity after it is closed. */
  readonly successor?: Identity | NoIdentity;
  /** The fingerprint by former rules or kinds, if an incident has it: it records which series have ended. */
  readonly formerFingerprint?: string;
}

/** The signal is about no object. */
export interface NoIdentity {
  readonly fingerprint: string;
  readonly because: string;
}

/** The recorded part of a signal without an object. */
export type NamelessReport = Pick<Report, "signal" | "fingerprint" | "receivedAt">;

/**
 * Removes times in the future: a beginning in the future counts as now, and an end in the future is dropped, so that it counts as
 * now, too. Otherwise a payload that ends in the year 9999 would suppress every later firing of its series, and one that
 * begins then could never be ended. Times compare as text.
 */
export function withinReceipt(signal: Signal, receivedAt: string): Signal {
  const isPast = signal.endedAt === undefined || signal.endedAt <= receivedAt;
  if (signal.firingAt <= receivedAt && isPast) return signal;
  const { endedAt: _, ...rest } = signal;
  const firingAt = signal.firingAt <= receivedAt ? signal.firingAt : receivedAt;
  return isPast ? { ...signal, firingAt } : { ...rest, firingAt };
}

/**
 * For fingerprints without the source: an incident may then have signals of two sources, whose series must stay distinct. Only
 * the source that reported a series can end it.
 */
export function withSourceInSeries(signal: Signal): Signal {
  return { ...signal, series: `${signal.source}\n${signal.series}` };
}
