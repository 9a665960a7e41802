import { CoordinationError, keyOf, type Lease, type Locks } from "../../coordination/index.ts";
import { byAge, lostEventMs, reconcile, refOf, type Skipped, soonest } from "../../kube/index.ts";
import {
  notificationRequests,
  type RemediationApprovalRequest,
  type RemediationRequest,
  remediationApprovalRequests,
  remediationRequests,
  type WorkflowExecution,
} from "../../resources/index.ts";
import type { Caches } from "../caches.ts";
import { parseDiagnosedTarget, readTargetView, viewCachedTarget } from "../observe.ts";
import { type Deps, type IncidentChanges, perform } from "../perform.ts";
import { sharedSuccess } from "../reports/notices.ts";
import { requireDiagnosis } from "../statuses.ts";
import { approvalNameFor, isRouted, route } from "./route.ts";
import type { TargetView, ViewedTarget } from "./target-view.ts";

/**
 * Routes all incidents that wait for one target, oldest first. The lock keeps replicas from deciding about the same target at
 * once, which would create executions that are skipped; admission does not depend on it. Returns in how many milliseconds to
 * reconcile again, unless an event arrives before.
 */
export async function reconcileTarget(
  hash: string,
  deps: Deps,
  signal: AbortSignal,
): Promise<number | undefined | Skipped> {
  const { incidents, ownWrites } = deps.caches;
  const inMs = await routeWaiting(hash, deps, signal);
  // The newer version of a skipped incident arrives as an event, which wakes no key if it only reports a stall.
  const isSkipped = incidents.byIndex("target", hash).some((incident) => ownWrites.isOutdated(incident));
  return isSkipped ? { kind: "skipped", inMs: Math.min(inMs ?? lostEventMs, lostEventMs) } : inMs;
}

async function routeWaiting(hash: string, deps: Deps, signal: AbortSignal): Promise<number | undefined> {
  const { caches, locks } = deps;
  const waiting = listWaiting(hash, caches);
  const [first] = waiting;
  if (!first) return undefined;
  const { target: text } = requireDiagnosis(first);
  const target = parseDiagnosedTarget(text, caches.kinds.current);
  const cachedView = viewCachedTarget(hash, target, waiting, caches);
  const decisions = waiting.map((incident) => route(incident, cachedView));
  // The caches show nothing to do. A change that they do not show yet arrives as an event.
  if (decisions.every(({ actions }) => actions.length === 0))
    return soonest(...decisions.map(({ requeueAfterMs }) => requeueAfterMs));

  await using lease = await acquireShortly(text, locks, signal);
  // Awaited here, so that the lock is held until all incidents are routed.
  return await routeIncidents(hash, target, deps, lease, signal);
}

/** The maximum wait for a target's lock. Its holder may have died, and no outcome depends on the lock. */
const maxLockWaitMs = 2_000;

/** Acquires the lock of a target; returns undefined if it is not granted in time. */
async function acquireShortly(target: string, locks: Locks, signal: AbortSignal): Promise<Lease | undefined> {
  try {
    const options = { purpose: `decide about ${target}`, signal, waitMs: maxLockWaitMs };
    return await locks.acquire(keyOf(target), options);
  } catch (error) {
    if (error instanceof CoordinationError && error.code === "timeout") return undefined;
    throw error;
  }
}

async function routeIncidents(
  hash: string,
  target: ViewedTarget,
  deps: Deps,
  lease: Lease | undefined,
  outer: AbortSignal,
) {
  const { caches } = deps;
  const signal = lease ? AbortSignal.any([outer, lease.signal]) : outer;
  let view = await readTargetView(hash, target, caches, signal);
  await notifySharedSuccess(view, listWaiting(hash, caches), deps, signal);
  const requeues: (number | undefined)[] = [];
  const failures: unknown[] = [];
  for (const incident of listWaiting(hash, caches)) {
    lease?.assertHeld();
    try {
      const { created, requeueAfterMs } = await routeIncident(incident, view, deps, signal);
      view = { ...view, executions: [...view.executions, ...created] };
      requeues.push(requeueAfterMs);
    } catch (error) {
      // An incident whose routing fails does not block the others.
      if (signal.aborted) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return soonest(...requeues);
}

interface Routed {
  readonly created: readonly WorkflowExecution[];
  readonly requeueAfterMs: number | undefined;
}

async function routeIncident(
  cached: RemediationRequest,
  target: TargetView,
  deps: Deps,
  signal: AbortSignal,
): Promise<Routed> {
  const { caches } = deps;
  const view = await withApproval(cached, target, caches, signal);
  const { actions, requeueAfterMs } = route(cached, view);
  if (actions.length === 0) return { created: [], requeueAfterMs };

  const incident = await caches.client.get(remediationRequests, refOf(cached), { signal });
  if (!incident || incident.metadata.uid !== cached.metadata.uid) return { created: [], requeueAfterMs: undefined };
  caches.ownWrites.note(incident);
  let latest: Required<IncidentChanges> = { incident, created: [] };
  const inMs = await reconcile(latest, {
    decide: ({ incident, created }) => route(incident, { ...view, executions: [...view.executions, ...created] }),
    perform: (action, snapshot) => perform(action, snapshot, deps, signal),
    async observeAgain(after = latest, before) {
      latest = after;
      const isChanged = after.incident !== before.incident || after.created !== before.created;
      return isChanged ? after : undefined;
    },
  });
  return { created: latest.created, requeueAfterMs: inMs };
}

/** Reads the approval from the server, and those that were withdrawn before it: a cached one must not start an execution. */
async function withApproval(
  incident: RemediationRequest,
  view: TargetView,
  { client, catalog }: Caches,
  signal: AbortSignal,
): Promise<TargetView> {
  if (!isRouted(incident) || !catalog.find(requireDiagnosis(incident).workflowId)?.spec.approval?.required) return view;
  const { namespace = "" } = incident.metadata;
  const approvals = new Map<string, RemediationApprovalRequest>();
  for (;;) {
    const name = approvalNameFor(incident, { ...view, approvals });
    const approval = approvals.has(name)
      ? undefined
      : await client.get(remediationApprovalRequests, { namespace, name }, { signal });
    if (!approval) return { ...view, approvals };
    approvals.set(name, approval);
  }
}

/** Creates one notice for all incidents that share a success, before they are verified: no further one can join them. */
async function notifySharedSuccess(
  { executions }: TargetView,
  waiting: readonly RemediationRequest[],
  { caches }: Deps,
  signal: AbortSignal,
): Promise<void> {
  const followed = new Set(waiting.map(({ status }) => status?.follows?.uid));
  for (const execution of executions) {
    const { uid } = execution.metadata;
    if (execution.status?.phase !== "Completed" || !followed.has(uid)) continue;
    const { items } = await caches.client.list(remediationRequests, {}, { signal });
    const followers = items.filter(({ status }) => status?.follows?.uid === uid).sort(byAge);
    // All followers were released meanwhile.
    if (followers.length === 0) continue;
    await caches.client.create(notificationRequests, sharedSuccess(execution, followers), { signal });
  }
}

function listWaiting(hash: string, { incidents, ownWrites }: Caches): readonly RemediationRequest[] {
  return incidents
    .byIndex("target", hash)
    .filter((incident) => !ownWrites.isOutdated(incident))
    .sort(byAge);
}
