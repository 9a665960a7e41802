import { type Engine, listUnfinishedPods, runOwner } from "../../engines/index.ts";
import { deleteExactly, iso, type KubeObject, lostEventMs, refOf, writeStatus } from "../../kube/index.ts";
import type { LedgerEvent, LedgerEventType } from "../../ledger/index.ts";
import {
  findEnd,
  foldAck,
  foldEnd,
  foldIneffective,
  freeHolder,
  isCovered,
  workflowRules,
} from "../../policy/index.ts";
import {
  annotationKeys,
  type ExecutionEnd,
  ineffectiveExecutions,
  labelKeys,
  parseRecordedTarget,
  type RecordHolder,
  type RemediationTarget,
  remediationTargets,
  workflowExecutions,
} from "../../resources/index.ts";
import type { Caches } from "../caches.ts";
import type { Deps } from "../deps.ts";
import { readAcknowledgement } from "../endings/endings.ts";
import { recheckMs, recordKeptUntilMs } from "../endings/retention.ts";
import { admissionFacts } from "../reports/ledger-events.ts";
import { missingEngine } from "../runs/read-run.ts";
import { readRunsOn } from "./rebuild-record.ts";

/**
 * Cleans up after executions that were deleted: their runs are stopped and deleted, and a target that such an execution holds
 * is freed once its run has ended.
 */
export async function reconcileTarget(
  name: string,
  deps: TargetDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { caches } = deps;
  const record = caches.records.get({ namespace: caches.namespace, name });
  const named = [...new Set(caches.runs.values())].flatMap((informer) => informer.byIndex("target", name));
  if (record) await reportLost(record, deps);
  if (record && (await acknowledge(record, deps, signal))) return lostEventMs;
  if (record && (await foldMarks(record, deps, signal))) return lostEventMs;
  if (!mayHaveOrphans(record, named, caches)) return record && retainRecord(record, caches, signal);

  const uids = await listExecutionUids(name, caches, signal);
  // The record may have been deleted: the runs name their target, too.
  const target = record?.spec.targetResource ?? named.map((run) => runOwner(run).target).find(Boolean);
  const found = target === undefined ? [] : await listRuns(target, caches, signal);
  const orphans = found.filter(({ executionUid }) => !uids.has(executionUid));
  for (const orphan of orphans) await stopOrRemove(orphan, caches, signal);
  if (orphans.length > 0) return lookAgainMs;
  const holder = record?.status?.holder;
  if (!holder || uids.has(holder.executionUid)) return undefined;
  // Without its engine, the run of the holder is not among the runs above.
  if (!caches.engines.has(holder.engine)) throw new Error(missingEngine(holder.engine));
  const pods = await listUnfinishedPods(caches.client, { namespace: caches.namespace, targetHash: name, signal });
  if (pods.length > 0) return lookAgainMs;
  return (await free(record, holder, deps, signal)) ? undefined : lostEventMs;
}

/**
 * Deletes the record of a target that has not changed for long. Exactly the observed version is deleted: an execution that is
 * admitted meanwhile changes it. The next execution creates another record.
 */
async function retainRecord(
  record: RemediationTarget,
  caches: Caches,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { client, settings, entries } = caches;
  const cooldownMs = (workflowId: string) => {
    const own = entries.byIndex("workflowId", workflowId).map((entry) => workflowRules(entry).cooldownMs ?? 0);
    return Math.max(settings.cooldownMs, ...own);
  };
  const nowMs = client.serverNowMs();
  const untilMs = recordKeptUntilMs(record, { settings, cooldownMs });
  if (nowMs < untilMs) return Math.min(untilMs - nowMs, recheckMs);
  const { targetResource } = record.spec;
  const executions = await listExecutionUids(record.metadata.name ?? "", caches, signal);
  if (executions.size > 0 || (await listRuns(targetResource, caches, signal)).length > 0) return recheckMs;
  if (await deleteExactly(client, remediationTargets, record, { signal })) caches.ownWrites.noteGone(record);
  return undefined;
}

export interface TargetDeps extends Deps {
  /** Uids of the lost executions that this process has recorded in the ledger. */
  readonly reportedLost: Set<string>;
}

/** Folds an acknowledgement on the record, for an execution that is deleted. Returns whether there was one. */
async function acknowledge(record: RemediationTarget, { caches, ledger }: Deps, signal: AbortSignal): Promise<boolean> {
  const uid = record.metadata.annotations?.[annotationKeys.acknowledgedExecution];
  const found = findEnd(record.status, ({ executionUid }) => executionUid === uid);
  if (!found || isCovered(found.history.ack, found.end)) return false;
  const nowMs = caches.client.serverNowMs();
  const knownSinceMs = await caches.acknowledgersKnownSince?.(signal);
  const ack = readAcknowledgement(record, found.end, { nowMs, knownSinceMs });
  if (!ack) return false;

  const { workflowId } = found.history;
  const { at, by, reason, verified } = ack;
  await ledger.append(
    event(record, { ...found.end, type: "failure.acknowledged", at, workflowId }, { by, reason, verified }),
  );
  const status = foldAck(record.status, { workflowId, ack, backoff: caches.settings.backoff });
  await writeStatus(caches.client, remediationTargets, { ...record, status }, signal);
  return true;
}

/** Folds the marks of ineffective workflows, which an orchestrator sets, into the status. Returns whether there was one. */
async function foldMarks(record: RemediationTarget, { caches }: Deps, signal: AbortSignal): Promise<boolean> {
  const { client, settings } = caches;
  const foundAt = iso(client.serverNowMs());
  let { status } = record;
  for (const uid of ineffectiveExecutions(record)) {
    const found = findEnd(record.status, ({ executionUid }) => executionUid === uid);
    if (found?.end.outcome !== "Success" || isCovered(found.history.ack, found.end)) continue;
    const { workflowId, ineffective: known } = found.history;
    if (known && Date.parse(known.latestSuccess.completedAt) >= Date.parse(found.end.completedAt)) continue;
    const ineffective = { latestSuccess: found.end, foundAt };
    status = foldIneffective(status, { workflowId, ineffective, backoff: settings.backoff });
  }
  if (!status || status === record.status) return false;
  await writeStatus(client, remediationTargets, { ...record, status }, signal);
  return true;
}

const lookAgainMs = 1_000;

/** Whether the caches show a holder or a run whose execution is gone. They may lag behind, but show every change later. */
function mayHaveOrphans(record: RemediationTarget | undefined, runs: readonly KubeObject[], caches: Caches): boolean {
  return (
    isGone(record?.status?.holder?.executionUid, caches) ||
    runs.some((run) => isGone(runOwner(run).executionUid, caches))
  );
}

function isGone(uid: string | undefined, { executions }: Caches): boolean {
  return uid !== undefined && executions.byIndex("uid", uid).length === 0;
}

async function listExecutionUids(hash: string, { client }: Caches, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const selector = { labelSelector: `${labelKeys.targetHash}=${hash}` };
  const { items } = await client.list(workflowExecutions, selector, { signal });
  return new Set(items.map(({ metadata }) => metadata.uid ?? ""));
}

interface OwnedRun {
  readonly engine: Engine;
  readonly run: KubeObject;
  readonly executionUid: string;
}

/** Lists the runs on this target that executions created, each with an engine that can stop it. */
async function listRuns(targetText: string, caches: Caches, signal: AbortSignal): Promise<readonly OwnedRun[]> {
  const read = parseRecordedTarget(targetText);
  if (read.kind === "problem") return [];
  const runs = await readRunsOn(read.target, caches, signal);
  return runs.flatMap((run) => {
    const { executionUid, target } = runOwner(run);
    const engine = [...caches.engines.values()].find(({ runs }) => runs.kind === run.kind);
    return engine && executionUid && target === read.target.text ? [{ engine, run, executionUid }] : [];
  });
}

async function stopOrRemove({ engine, run }: OwnedRun, { client }: Caches, signal: AbortSignal): Promise<void> {
  const isRunning = engine.stateOf(run).kind === "running";
  if (isRunning) await client.patch(engine.runs, refOf(run), engine.cancel(run), { signal });
  else await deleteExactly(client, engine.runs, run, { propagation: "Foreground", signal });
}

/**
 * Frees the target of a holder that was deleted. Its result is unknown, so it counts as a failure during execution until an
 * operator acknowledges it. If its end is in the record, a suspended replica admitted it twice, and the target is only freed.
 */
async function free(
  record: RemediationTarget,
  holder: RecordHolder,
  deps: TargetDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const { client, settings } = deps.caches;
  const hasEnded = findEnd(record.status, ({ executionUid }) => executionUid === holder.executionUid) !== undefined;
  // The replica that admitted it may have died before it recorded that.
  if (!hasEnded) await deps.ledger.append(admittedEvent(record, holder));
  const end = unknownEnd(holder, client.serverNowMs());
  const status = hasEnded
    ? freeHolder(record.status, holder.executionUid)
    : foldEnd(record.status, { workflowId: holder.workflowId, end, backoff: settings.backoff });
  const freed = await writeStatus(client, remediationTargets, { ...record, status }, signal);
  if (!freed) return false;
  await reportLost(freed, deps);
  return true;
}

/** Records lost executions in the ledger. Derived from the record: the replica that freed the target may die right after. */
async function reportLost(record: RemediationTarget, { caches, ledger, reportedLost }: TargetDeps): Promise<void> {
  for (const { workflowId, recentEnds } of record.status?.workflows ?? []) {
    for (const end of recentEnds) {
      const { executionUid, reason } = end;
      if (reason !== "Unknown" || reportedLost.has(executionUid) || !isGone(executionUid, caches)) continue;
      await ledger.append(freedEvent(record, workflowId, end));
      reportedLost.add(executionUid);
    }
  }
}

function unknownEnd(holder: RecordHolder, nowMs: number): ExecutionEnd {
  const { executionUid, executionName, executionNamespace, approval } = holder;
  return {
    executionUid,
    executionName,
    executionNamespace,
    outcome: "Failed",
    completedAt: iso(nowMs),
    reason: "Unknown",
    wasExecutionFailure: true,
    ...(approval ? { approvalUid: approval.uid } : {}),
  };
}

function admittedEvent(record: RemediationTarget, holder: RecordHolder): LedgerEvent {
  const facts = { ...admissionFacts(holder), record_version: record.metadata.resourceVersion ?? "" };
  return event(record, { type: "execution.admitted", at: holder.since, ...holder }, facts);
}

function freedEvent(record: RemediationTarget, workflowId: string, end: ExecutionEnd): LedgerEvent {
  const because = "the execution was deleted before its end was recorded";
  return event(record, { type: "target.freed", at: end.completedAt, workflowId, ...end }, { because });
}

interface EventSubject
  extends Pick<RecordHolder, "executionUid" | "executionName" | "executionNamespace" | "workflowId"> {
  readonly type: LedgerEventType;
  readonly at: string;
}

function event(
  { spec }: RemediationTarget,
  { type, at, executionUid, executionName, executionNamespace, workflowId }: EventSubject,
  facts: LedgerEvent["facts"],
): LedgerEvent {
  return {
    id: `${executionUid}/${type}`,
    type,
    at,
    facts: {
      execution_id: executionUid,
      execution: `${executionNamespace}/${executionName}`,
      workflow_id: workflowId,
      target_resource: spec.targetResource,
      ...facts,
    },
  };
}
