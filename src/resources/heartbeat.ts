import { type KubeLease, leases, microTime, nameHash } from "../kube/index.ts";

/** The parts of a process whose problems appear in no object. */
export type HealthArea = "rules" | "workflows" | "engines" | "watches" | "signals";

/** The health of one process, reported by the process. */
export interface Heartbeat {
  /** The host, in a cluster the pod, and the process id: `worker-1/4711`. */
  readonly process: string;
  readonly version: string;
  readonly startedAt: string;
  readonly stages: readonly StageHealth[];
  readonly problems: readonly HealthProblem[];
  /** Events in the journal that the database does not have yet, and the age of the oldest. */
  readonly ledger: { readonly events: number; readonly seconds: number };
  readonly locks: { readonly held: number; readonly waiting: number; readonly oldestWaitSeconds: number };
  /** Signals without effect since the start of the process, if it has a gateway. */
  readonly signals?: { readonly refused: number; readonly ignored: number; readonly rejectedRequests: number };
}

export interface StageHealth {
  readonly name: string;
  readonly isReady: boolean;
  readonly problem?: string;
}

export interface HealthProblem {
  readonly area: HealthArea;
  readonly message: string;
}

/** Selects the Leases that are heartbeats. */
export const heartbeatSelector = "kubernaut.ai/kind=heartbeat";

const annotation = "kubernaut.ai/health";

/** Longer lists and messages are cut, because the size of an object is limited. */
const maxProblems = 10;
const maxMessageLength = 500;

export interface HeartbeatLeaseOptions {
  readonly namespace: string;
  /** `up`, or the only stage of the process. */
  readonly role: string;
  /** Identifies the process across restarts: its host and data directory. */
  readonly seat: string;
  readonly nowMs: number;
  readonly intervalMs: number;
}

/** The Lease of a heartbeat. Its name stays the same when the process restarts on the same host with the same directory. */
export function toHeartbeatLease(heartbeat: Heartbeat, options: HeartbeatLeaseOptions): KubeLease {
  const { namespace, role, seat, nowMs, intervalMs } = options;
  const problems = heartbeat.problems
    .slice(0, maxProblems)
    .map(({ area, message }) => ({ area, message: message.slice(0, maxMessageLength) }));
  return {
    apiVersion: leases.apiVersion,
    kind: leases.kind,
    metadata: {
      name: `heartbeat-${role}-${nameHash(seat).slice(0, 16)}`,
      namespace,
      labels: Object.fromEntries([heartbeatSelector.split("=")]),
      annotations: { [annotation]: JSON.stringify({ ...heartbeat, problems }) },
    },
    spec: {
      holderIdentity: `${role}/${heartbeat.process}`,
      // Two renewals may fail before the process counts as gone.
      leaseDurationSeconds: Math.max(1, Math.ceil((3 * intervalMs) / 1_000)),
      renewTime: microTime(nowMs),
    },
  };
}

/** The heartbeat in a Lease and its age; undefined if there is none, or it is unreadable. */
export function readHeartbeat(lease: KubeLease, nowMs: number): ReadHeartbeat | undefined {
  const { renewTime, leaseDurationSeconds } = lease.spec ?? {};
  const text = lease.metadata.annotations?.[annotation];
  if (text === undefined || renewTime === undefined || leaseDurationSeconds === undefined) return undefined;
  const heartbeat = parse(text);
  if (!heartbeat) return undefined;
  const ageMs = Math.max(0, nowMs - Date.parse(renewTime));
  return { ...heartbeat, ageMs, isAlive: ageMs <= leaseDurationSeconds * 1_000 };
}

export interface ReadHeartbeat extends Heartbeat {
  readonly ageMs: number;
  /** Whether it was renewed in time. */
  readonly isAlive: boolean;
}

/** Another version may write other fields: only those of all versions are required. */
function parse(text: string): Heartbeat | undefined {
  try {
    const { problems = [], ledger, locks, ...rest } = JSON.parse(text) as Partial<Heartbeat>;
    const { process, version = "unknown", startedAt = "", stages } = rest;
    if (typeof process !== "string" || !Array.isArray(stages)) return undefined;
    return {
      ...{ process, version, startedAt, stages, problems },
      ledger: ledger ?? { events: 0, seconds: 0 },
      locks: locks ?? { held: 0, waiting: 0, oldestWaitSeconds: 0 },
      ...(rest.signals && { signals: rest.signals }),
    };
  } catch {
    return undefined;
  }
}
