import { listUnfinishedPods, runOwner } from "../engines/index.ts";
import { lastingPauses } from "../policy/index.ts";
import {
  type Kinds,
  labelKeys,
  type ObjectTarget,
  parseRecordedTarget,
  type RemediationApprovalRequest,
  readCancelRequest,
  remediationApprovalRequests,
  targetHash,
  type WorkflowExecution,
} from "../resources/index.ts";
import { approvalName } from "./admission/approval.ts";
import { findEntry, isBeforeRun } from "./admission/find-entry.ts";
import { type Plan, planExecution, planTarget, type TargetPlan } from "./admission/plan.ts";
import type { Caches, ReadOptions } from "./caches.ts";
import { isAcknowledged } from "./endings/endings.ts";
import { isRunDeleted, readRun } from "./runs/read-run.ts";
import { findHolder, type Snapshot } from "./snapshot.ts";
import { readRecord } from "./targets/read-record.ts";

/** Reads everything that the next step of `execution` depends on. */
export async function observe(
  execution: WorkflowExecution,
  caches: Caches,
  signal: AbortSignal,
  { fresh = false }: { fresh?: boolean } = {},
): Promise<Snapshot> {
  const nowMs = caches.client.serverNowMs();
  const options = { signal, fresh };
  const target = await readTarget(execution, caches, signal);
  const { record, isConfirmed: isRecordConfirmed } = await readRecord(execution, target.read.target, caches, options);
  const { plan, isConfirmed: isEntryConfirmed } = await readPlan({ execution, record, target }, caches, options);
  const approval = await readApproval(execution, plan, caches, signal);
  const run = await readRun({ execution, plan, record }, caches, options);
  return {
    nowMs,
    execution,
    plan,
    record,
    unconfirmed: { record: !isRecordConfirmed, entry: !isEntryConfirmed },
    run,
    ...(plan.target &&
      isRunDeleted(execution, run) && {
        remainingPods: await listUnfinishedPods(caches.client, {
          namespace: caches.namespace,
          targetHash: targetHash(plan.target),
          signal,
        }),
      }),
    ...(approval && { approval }),
    pauses: lastingPauses(caches.pauses.list(), nowMs, target.kinds),
    ...((isAcknowledged(execution) || readCancelRequest(execution)) && {
      acknowledgersKnownSinceMs: await caches.acknowledgersKnownSince?.(signal),
    }),
    settings: caches.settings,
  };
}

interface ReadTarget {
  readonly read: TargetPlan;
  /** The kinds by which the target was parsed. */
  readonly kinds: Kinds;
}

/**
 * Parses the target of an execution. If its kind is unknown, the kinds are read from the API server: the definition may have
 * been applied a moment before the execution.
 */
async function readTarget(execution: WorkflowExecution, caches: Caches, signal: AbortSignal): Promise<ReadTarget> {
  const { current } = caches.kinds;
  const read = planTarget(execution, current);
  if (read.kind === "target" || !read.unknownKind) return { read, kinds: current };
  const kinds = isBeforeRun(execution) ? await caches.kinds.read(signal) : current;
  const again = planTarget(execution, kinds);
  return { read: again.kind === "target" ? again : { ...again, target: markedTarget(execution, caches) }, kinds };
}

/**
 * Returns the target by which an execution was marked while its kind was known. The execution may hold that target and have a
 * run on it. Both end as usual, but nothing new is started.
 */
function markedTarget(execution: WorkflowExecution, { records, runs, namespace }: Caches): ObjectTarget | undefined {
  const hash = execution.metadata.labels?.[labelKeys.targetHash];
  if (hash === undefined) return undefined;
  const onTarget = [...new Set(runs.values())].flatMap((informer) => informer.byIndex("target", hash));
  const texts = [
    execution.spec.targetResource,
    records.get({ namespace, name: hash })?.spec.targetResource,
    ...onTarget.map((run) => runOwner(run).target),
  ];
  for (const text of texts) {
    const read = text === undefined ? undefined : parseRecordedTarget(text);
    if (read?.kind !== "target" || read.target.type !== "object" || targetHash(read.target) !== hash) continue;
    return read.target;
  }
  return undefined;
}

interface PlanEvidence extends Pick<Snapshot, "execution" | "record"> {
  readonly target: ReadTarget;
}

/** Combines the execution with its catalog entry. `isConfirmed`: the entry in the plan is not from a cache. */
async function readPlan(
  { execution, record, target: { read, kinds } }: PlanEvidence,
  caches: Caches,
  options: ReadOptions,
): Promise<{ readonly plan: Plan; readonly isConfirmed: boolean }> {
  if (read.kind === "invalid") return { plan: read, isConfirmed: true };
  const holder = findHolder(execution, record);
  const { found, isConfirmed } = await findEntry(execution, holder, { ...caches, kinds }, options);
  return {
    plan: planExecution(execution, { target: read.target, found, kinds, defaults: caches.defaults }),
    isConfirmed,
  };
}

/**
 * Reads the approval that an execution without a run refers to from the server. It has to be in the namespace of incidents:
 * elsewhere the author of an execution may be able to write an approval, too.
 */
async function readApproval(
  execution: WorkflowExecution,
  plan: Plan,
  { client, settings }: Caches,
  signal: AbortSignal,
): Promise<RemediationApprovalRequest | undefined> {
  const name = approvalName(execution);
  if (name === undefined || plan.kind === "invalid") return undefined;
  if (!isBeforeRun(execution) || !plan.requiresApproval) return undefined;
  const ref = { namespace: settings.incidentsNamespace, name };
  return client.get(remediationApprovalRequests, ref, { signal });
}
