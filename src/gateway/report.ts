import type { ObjectReference, RemediationRequest, Signal } from "../resources/index.ts";
import { closedIncidentPhases } from "../resources/index.ts";

/** A signal, and what was found out about it. All that is needed to open an incident, also after a restart. */
export interface Report {
  readonly signal: Signal;
  readonly fingerprint: string;
  /** What the signal named, in canonical form. */
  readonly subject: string;
  /** What owns that, and is what counts: in canonical form, and as Kubernetes writes it. */
  readonly owner: { readonly target: string; readonly reference: ObjectReference };
  /** When it came, by the API server's clock. */
  readonly receivedAt: string;
}

/** Whether signals still belong to it. */
export function isOpen({ status }: RemediationRequest): boolean {
  return status === undefined || !closed.has(status.phase);
}

const closed: ReadonlySet<string> = new Set(closedIncidentPhases);
