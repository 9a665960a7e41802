import { type KubeLease, leases, microTime, nameHash } from "../kube/index.ts";
import { parseJson, type Wire, z } from "../schema/index.ts";

/** The parts of a process whose problems appear in no object. */
export type HealthArea = "rules" | "workflows" | "engines" | "watches" | "signals";

/** Another version may write other fields: only those of all versions are required. */
const schema = z.object({
  /** The host, in a cluster the pod, and the process id: `worker-1/4711`. */
  process: z.string(),
  version: z.string().default("unknown"),
  startedAt: z.string().default(""),
  stages: z.array(z.object({ name: z.string(), isReady: z.boolean(), problem: z.string().optional() })),
  /** A newer version may report other areas. */
  problems: z
    .array(z.object({ area: z.custom<HealthArea>((value) => typeof value === "string"), message: z.string() }))
    .default([]),
  /** Events in the journal that the database does not have yet, and the age of the oldest. */
  ledger: z.object({ events: z.number(), seconds: z.number() }).default({ events: 0, seconds: 0 }),
  locks: z
    .object({ held: z.number(), waiting: z.number(), oldestWaitSeconds: z.number() })
    .default({ held: 0, waiting: 0, oldestWaitSeconds: 0 }),
  /** Signals without effect since the start of the process, if it has a gateway. */
  signals: z.object({ refused: z.number(), ignored: z.number(), rejectedRequests: z.number() }).optional(),
});

/** The health of one process, reported by the process. */
export type Heartbeat = Wire<typeof schema>;
export type StageHealth = Heartbeat["stages"][number];

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
  const heartbeat = schema.safeParse(parseJson(text)).data as Heartbeat | undefined;
  if (!heartbeat) return undefined;
  const ageMs = Math.max(0, nowMs - Date.parse(renewTime));
  return { ...heartbeat, ageMs, isAlive: ageMs <= leaseDurationSeconds * 1_000 };
}

export type ReadHeartbeat = Heartbeat & {
  readonly ageMs: number;
  /** Whether it was renewed in time. */
  readonly isAlive: boolean;
};
