import type { ObjectReference, RemediationRequest, Signal } from "../../resources/index.ts";
import { annotationKeys, closedIncidentPhases } from "../../resources/index.ts";

/** What a signal is about, and the identity of its incident. */
export interface Identity {
  readonly fingerprint: string;
  /** What the signal named, in canonical form. */
  readonly subject: string;
  /** What owns that, and is what counts: in canonical form, and as Kubernetes writes it. */
  readonly owner: { readonly target: string; readonly reference: ObjectReference };
  /** Labels that belong to the identity, because the rule for the signal acts on them. */
  readonly distinctBy?: readonly string[];
}

/** A signal and its identity: sufficient to open an incident, also after a restart. */
export interface Report extends Identity {
  readonly signal: Signal;
  /** When it came, by the API server's clock. */
  readonly receivedAt: string;
  /** The version of the rules for identity that were used; absent if they are those of an earlier version. */
  readonly identityVersion?: string;
  /** Only for an identity of an earlier version: what the signal is once the incident that is open under that is closed. */
  readonly successor?: Identity | NoIdentity;
  /** The fingerprint of an earlier version, if incidents with it are known: they remember which series have ended. */
  readonly formerFingerprint?: string;
}

/** The signal is about no object. */
export interface NoIdentity {
  readonly fingerprint: string;
  readonly because: string;
}

/** A signal that is about no object, as it is recorded. */
export type NamelessReport = Pick<Report, "signal" | "fingerprint" | "receivedAt">;

/**
 * Goes up when the same signal may get another subject, or other fields of its fingerprint. Incidents keep the version
 * that they were opened with (those of the first have none), so that they are found until they are closed.
 */
export const identityVersion = "3";

/** The version of the rules by which the identity of `incident` was found. */
export function identityVersionOf({ metadata }: RemediationRequest): string {
  return metadata.annotations?.[annotationKeys.identityVersion] ?? "1";
}

/** Whether signals still belong to it. */
export function isOpen({ status }: RemediationRequest): boolean {
  return status === undefined || !closed.has(status.phase);
}

const closed: ReadonlySet<string> = new Set(closedIncidentPhases);
