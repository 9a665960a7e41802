import type { Locks } from "../coordination/index.ts";
import { deleteExactly, KubeError, type Performed, patchAtVersion, refOf, writeStatus } from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import {
  annotationKeys,
  cancelAnnotations,
  ineffectiveExecutions,
  labelKeys,
  notificationRequests,
  type RemediationRequest,
  type RemediationTarget,
  readAckRequest,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  signalTextsRemoved,
  type WorkflowExecution,
  workflowExecutions,
} from "../resources/index.ts";
import type { Action } from "./action.ts";
import { expireApproval } from "./approvals/requested-approvals.ts";
import type { Caches } from "./caches.ts";
import type { Announce } from "./reports/announce.ts";
import { isOwnedBy } from "./snapshot.ts";

/** The operations that the orchestrator may call. */
export interface Deps {
  readonly caches: Caches;
  readonly ledger: Ledger;
  readonly locks: Locks;
  readonly announce: Announce;
}

/** The part of a snapshot that actions change. */
export interface IncidentChanges {
  readonly incident: RemediationRequest;
  /** The executions that were created for it since it was observed. */
  readonly created?: readonly WorkflowExecution[];
}

/**
 * Performs one action. Safe to repeat; every write is conditional on the snapshot. If another writer was faster, its write
 * arrives as an event.
 */
export async function perform<Snapshot extends IncidentChanges>(
  action: Action,
  snapshot: Snapshot,
  { caches, ledger, announce }: Deps,
  signal: AbortSignal,
): Promise<Performed<Snapshot>> {
  const { client, ownWrites } = caches;
  const { incident } = snapshot;
  const done = { kind: "done", snapshot } as const;
  switch (action.do) {
    case "set-status": {
      const written = await writeStatus(client, remediationRequests, { ...incident, status: action.status }, signal);
      return withIncident(snapshot, written);
    }
    case "create-execution": {
      const execution = await createExecution(action.execution, incident, caches, signal);
      if (!execution) return waiting;
      return { kind: "done", snapshot: { ...snapshot, created: [...(snapshot.created ?? []), execution] } };
    }
    case "delete-execution":
      // An execution that has ended since stays, because deleting it would end its cooldown.
      return (await deleteExactly(client, workflowExecutions, action.execution, { signal })) ? done : waiting;
    case "cancel-execution": {
      const patch = { merge: { metadata: { annotations: cancelAnnotations(action.request) } } };
      await client.patch(workflowExecutions, refOf(action.execution), patch, { signal });
      return done;
    }
    case "create-approval":
      await client.create(remediationApprovalRequests, action.approval, { signal });
      return done;
    case "expire-approval":
      return (await expireApproval(action.approval, action.nowMs, client, signal)) ? done : waiting;
    case "acknowledge":
      return withIncident(snapshot, await acknowledge(action.record, action.executionUid, incident, caches, signal));
    case "drop-ack":
      return withIncident(snapshot, await dropAck(incident, caches, signal));
    case "mark-ineffective":
      return (await markIneffective(action.record, action.executionUid, caches, signal)) ? done : waiting;
    case "record":
      await ledger.append(action.event);
      return done;
    case "notify":
      await client.create(notificationRequests, action.notice, { signal });
      return done;
    case "mark-superseded": {
      const metadata = { labels: { [labelKeys.latestOf]: null } };
      return withIncident(snapshot, await patchIncident(incident, { metadata }, caches, signal));
    }
    case "delete-incident": {
      const options = { propagation: "Background", signal } as const;
      if (!(await deleteExactly(client, remediationRequests, incident, options))) return waiting;
      ownWrites.noteGone(incident);
      return done;
    }
    case "strip-incident": {
      const metadata = { annotations: { [annotationKeys.tombstone]: "true" } };
      const patch = { metadata, spec: signalTextsRemoved };
      return withIncident(snapshot, await patchIncident(incident, patch, caches, signal));
    }
    case "announce":
      announce(action.announcement, incident);
      return done;
  }
}

const waiting = { kind: "waiting" } as const;

function withIncident<Snapshot extends IncidentChanges>(
  snapshot: Snapshot,
  incident: RemediationRequest | undefined,
): Performed<Snapshot> {
  return incident ? { kind: "done", snapshot: { ...snapshot, incident } } : waiting;
}

/** Patches exactly the version that was read. Returns undefined if the incident was changed or deleted since. */
async function patchIncident(
  incident: RemediationRequest,
  change: { readonly metadata: object; readonly spec?: object },
  { client }: Caches,
  signal: AbortSignal,
): Promise<RemediationRequest | undefined> {
  const outcome = await client.patch(remediationRequests, refOf(incident), patchAtVersion(incident, change), {
    signal,
  });
  return outcome.kind === "updated" ? outcome.object : undefined;
}

/** Returns undefined if an execution of that name was just deleted. Throws if the name belongs to another incident. */
async function createExecution(
  draft: WorkflowExecution,
  incident: RemediationRequest,
  { client }: Caches,
  signal: AbortSignal,
): Promise<WorkflowExecution | undefined> {
  const outcome = await client.create(workflowExecutions, draft, { signal });
  if (outcome.kind === "created") return outcome.object;
  const found = await client.get(workflowExecutions, refOf(draft), { signal });
  if (!found || isOwnedBy(found, incident.metadata.uid)) return found;
  const { name, namespace } = found.metadata;
  throw new KubeError(
    "invalid",
    `execution ${namespace}/${name} has the name of the next execution of incident ${incident.metadata.name}, but another owner: delete it`,
  );
}

/** Marks exactly the version that was read, so that marks by other replicas are kept. */
async function markIneffective(
  record: RemediationTarget,
  executionUid: string,
  { client }: Caches,
  signal: AbortSignal,
): Promise<boolean> {
  const uids = [...ineffectiveExecutions(record), executionUid].slice(-maxMarks);
  const annotations = { [annotationKeys.ineffectiveExecutions]: uids.join(",") };
  const patch = patchAtVersion(record, { metadata: { annotations } });
  const outcome = await client.patch(remediationTargets, refOf(record), patch, { signal });
  return outcome.kind === "updated";
}

/** Sufficient for all workflows that become ineffective on one target before an executor folds the marks. */
const maxMarks = 10;

/**
 * Copies the acknowledgement to the record first, and removes it from the incident last: a crash repeats it. Returns undefined if
 * the record was changed since it was read: it may have the acknowledgement of another execution.
 */
async function acknowledge(
  record: RemediationTarget,
  executionUid: string,
  incident: RemediationRequest,
  caches: Caches,
  signal: AbortSignal,
): Promise<RemediationRequest | undefined> {
  const ack = readAckRequest(incident);
  if (!ack) return undefined;
  const annotations = {
    [annotationKeys.acknowledgedExecution]: executionUid,
    [annotationKeys.acknowledge]: ack.reason,
    [annotationKeys.acknowledgedBy]: ack.by,
  };
  const patch = patchAtVersion(record, { metadata: { annotations } });
  const outcome = await caches.client.patch(remediationTargets, refOf(record), patch, { signal });
  return outcome.kind === "updated" ? dropAck(incident, caches, signal) : undefined;
}

function dropAck(incident: RemediationRequest, caches: Caches, signal: AbortSignal) {
  const annotations = { [annotationKeys.acknowledge]: null, [annotationKeys.acknowledgedBy]: null };
  return patchIncident(incident, { metadata: { annotations } }, caches, signal);
}
