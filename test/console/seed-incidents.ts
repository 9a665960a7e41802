import { join } from "node:path";
import { freezeJson, openLogStore } from "../../src/apiserver/index.ts";
import { type RemediationRequestStatus, remediationRequests } from "../../src/resources/index.ts";
import { systemClock } from "../../src/time/index.ts";

export interface Counts {
  readonly open: number;
  readonly closed: number;
}

const namespace = "kubernaut-system";
const batch = 2_000;

/**
 * Writes incidents into the empty data directory of an `up` that has not started: a hundred thousand take seconds, and as
 * many signals would take minutes. Open ones wait for a rule, closed ones ended within the last hours.
 */
export async function seedIncidents(dataDir: string, { open, closed }: Counts): Promise<void> {
  const clock = systemClock();
  const store = await openLogStore({
    directory: join(dataDir, "objects"),
    parse: freezeJson,
    clock,
    newStoreAt: Math.floor(clock.wallMs() * 50),
  });
  const resource = `${remediationRequests.plural}.${remediationRequests.apiVersion.split("/")[0]}`;
  for (let from = 0; from < open + closed; from += batch) {
    const writes = Array.from({ length: Math.min(batch, open + closed - from) }, (_, i) => {
      const incident = seededIncident(from + i, from + i < open, clock.wallMs());
      const key = { resource, namespace, name: incident.metadata.name };
      return store.write(key, (_current, revision) => {
        const object = { ...incident, metadata: { ...incident.metadata, resourceVersion: String(revision) } };
        return { do: "put", object, json: JSON.stringify(object), result: undefined };
      });
    });
    await Promise.all(writes);
  }
  await store.close();
}

/** NAMESPACE/NAME of a seeded incident; the first ones are open. */
export function seededName(index: number): string {
  return `${namespace}/${incidentName(index)}`;
}

function incidentName(index: number): string {
  return `rr-${index.toString(16).padStart(16, "0")}-1`;
}

/** An incident as the gateway and the orchestrator leave it. */
function seededIncident(index: number, isOpen: boolean, nowMs: number) {
  const fingerprint = index.toString(16).padStart(64, "0");
  const openedAt = new Date(nowMs - 3_600_000 - (index % 36_000) * 100).toISOString();
  return {
    apiVersion: remediationRequests.apiVersion,
    kind: remediationRequests.kind,
    metadata: {
      name: incidentName(index),
      namespace,
      uid: `00000000-0000-4000-8000-${index.toString().padStart(12, "0")}`,
      creationTimestamp: openedAt.replace(/\.\d+Z/, "Z"),
      generation: 1,
    },
    spec: {
      signalFingerprint: fingerprint,
      signalName: signalNames[index % signalNames.length] ?? "",
      signalSource: "alertmanager",
      severity: index % 5 === 0 ? "critical" : "warning",
      targetResource: { kind: "Node", name: `worker-${index}` },
      firingTime: openedAt,
      receivedTime: openedAt,
      signalLabels: { cluster: "prod-eu-1", node: `worker-${index}` },
    },
    status: isOpen ? openStatus(openedAt) : closedStatus(openedAt, index),
  };
}

const signalNames = ["DiskPressure", "KernelDeadlock", "ClockSkew", "CrashLooping", "HighLatency"];

function openStatus(openedAt: string): RemediationRequestStatus {
  return {
    phase: "Blocked",
    block: { reason: "NoMatchingRule", message: "no rule matches; add one" },
    startTime: openedAt,
    deduplication: { firstSeenAt: openedAt, lastSeenAt: openedAt, occurrenceCount: 1 },
  };
}

function closedStatus(openedAt: string, index: number): RemediationRequestStatus {
  const completedAt = new Date(Date.parse(openedAt) + 60_000 + (index % 1_000)).toISOString();
  return {
    phase: "Completed",
    outcome: "Remediated",
    completedAt,
    startTime: openedAt,
    diagnosis: { target: `node/worker-${index}`, workflowId: "node-disk-cleanup", rule: "full-disks" },
    deduplication: { firstSeenAt: openedAt, lastSeenAt: openedAt, occurrenceCount: 3 },
    // Without it, the orchestrator would record them all again, and a page would have a hundred thousand changes to follow.
    conditions: [
      { type: "Recorded", status: "True", reason: "Completed", message: "", lastTransitionTime: completedAt },
    ],
  };
}
