import {
  deleteExactly,
  KubeError,
  type Patch,
  type Performed,
  patchAtVersion,
  refOf,
  writeStatus,
} from "../kube/index.ts";
import {
  executionFinalizer,
  type NotificationRequest,
  notificationRequests,
  type RemediationTarget,
  remediationTargets,
  type WorkflowExecution,
  type WorkflowExecutionStatus,
  workflowExecutions,
} from "../resources/index.ts";
import type { Action } from "./action.ts";
import { isUnchanged } from "./admission/find-entry.ts";
import type { ActionContext, ActionOutcome } from "./deps.ts";
import * as events from "./reports/ledger-events.ts";
import { cancelRun, createRun, deleteRun, isRunUnchanged, startRun } from "./runs/change-run.ts";
import { findHolder, requiredMarks, type Snapshot } from "./snapshot.ts";
import { rebuildRecord } from "./targets/rebuild-record.ts";

/** Performs one action. Safe to repeat; every write is conditional on the snapshot. */
export async function perform(action: Action, snapshot: Snapshot, context: ActionContext): ActionOutcome {
  const { caches, ledger, announce, signal } = context;
  const { client } = caches;
  const { execution } = snapshot;
  switch (action.do) {
    case "mark":
      return patchExecution(snapshot, markPatch(snapshot), context);
    case "unmark":
      return patchExecution(snapshot, unmarkPatch(execution), context);
    case "set-status": {
      const { decision } = action;
      return setStatus({ ...snapshot, ...(decision && { decision }) }, action.status, context);
    }
    case "mirror-run":
      if (!(await isRunUnchanged(snapshot, action.run, context))) return { kind: "stale" };
      return setStatus(snapshot, action.status, context);
    case "confirm":
      return confirm(action.what, snapshot, context);
    case "observe-again":
      return { kind: "stale" };
    case "create-record":
      return withRecord(snapshot, await rebuildRecord(snapshot, caches, signal));
    case "write-record": {
      if (!snapshot.record) throw new TypeError("a record is written only after it was read");
      const next = { ...snapshot.record, status: action.status };
      const isAdmission = findHolder(execution, next) && !findHolder(execution, snapshot.record);
      if (isAdmission && !(await mayAdmit(snapshot, context))) return { kind: "stale" };
      return withRecord(snapshot, await writeStatus(client, remediationTargets, next, signal));
    }
    case "create-run":
      return createRun(snapshot, context);
    case "start-run":
      return startRun(snapshot, action.run, context);
    case "cancel-run":
      return cancelRun(snapshot, action, context);
    case "delete-run":
      return deleteRun(snapshot, action.run, context);
    case "delete-execution":
      return { kind: (await deleteExactly(client, workflowExecutions, execution, { signal })) ? "waiting" : "stale" };
    case "record":
      await ledger.append(action.event);
      return { kind: "done", snapshot };
    case "record-freed":
      await Promise.all([
        action.ended && ledger.append(action.ended),
        ledger.append(events.targetFreedEvent(snapshot, client.serverNowMs())),
      ]);
      return { kind: "done", snapshot };
    case "notify":
      await createNotice(action.notice, context);
      return { kind: "done", snapshot };
    case "announce":
      announce(action.what, snapshot);
      return { kind: "done", snapshot };
  }
}

type Confirmable = keyof Snapshot["unconfirmed"];

async function confirm(what: Confirmable, snapshot: Snapshot, { caches, signal }: ActionContext): ActionOutcome {
  if (what === "record") {
    if (!snapshot.record) throw new TypeError("a record is confirmed only after it was read");
    const { resourceVersion } = snapshot.record.metadata;
    const record = await caches.client.get(remediationTargets, refOf(snapshot.record), { signal });
    return record?.metadata.resourceVersion === resourceVersion ? withRecord(snapshot, record) : { kind: "stale" };
  }
  const entry = snapshot.plan.kind === "valid" ? snapshot.plan.entry : undefined;
  if (entry && !(await isUnchanged(entry, caches, signal))) return { kind: "stale" };
  return { kind: "done", snapshot: { ...snapshot, unconfirmed: { ...snapshot.unconfirmed, entry: false } } };
}

/** Returns the snapshot with the record as the server has it; stale if the write of the record lost a race. */
function withRecord(snapshot: Snapshot, record: RemediationTarget | undefined): Performed<Snapshot> {
  if (!record) return { kind: "stale" };
  return { kind: "done", snapshot: { ...snapshot, record, unconfirmed: { ...snapshot.unconfirmed, record: false } } };
}

/**
 * An execution that this process admitted before may have ended since, with another replica: a cache that lags behind
 * would admit it again each time the other replica frees the target. So a second admission requires a fresh read.
 */
async function mayAdmit({ execution }: Snapshot, { caches, signal }: ActionContext): Promise<boolean> {
  const { admitted, client } = caches;
  const { uid = "", resourceVersion } = execution.metadata;
  if (!admitted.has(uid)) {
    admitted.add(uid);
    return true;
  }
  const current = await client.get(workflowExecutions, refOf(execution), { signal });
  return current?.metadata.resourceVersion === resourceVersion;
}

/**
 * Creates the notice. A namespace that is being terminated accepts none and would delete it: an execution there must not wait for
 * it, because its finalizer keeps the namespace.
 */
async function createNotice(notice: NotificationRequest, { caches, signal }: ActionContext): Promise<void> {
  try {
    await caches.client.create(notificationRequests, notice, { signal });
  } catch (error) {
    // The API server returns the same code for a missing permission; only the message differs.
    const isTerminating = error instanceof KubeError && /because it is being terminated/.test(error.message);
    if (!isTerminating) throw error;
  }
}

async function setStatus(
  snapshot: Snapshot,
  status: WorkflowExecutionStatus,
  { caches, signal }: ActionContext,
): ActionOutcome {
  const execution = await writeStatus(caches.client, workflowExecutions, { ...snapshot.execution, status }, signal);
  return execution ? { kind: "done", snapshot: { ...snapshot, execution } } : { kind: "stale" };
}

async function patchExecution(snapshot: Snapshot, patch: Patch, { caches, signal }: ActionContext): ActionOutcome {
  const outcome = await caches.client.patch(workflowExecutions, refOf(snapshot.execution), patch, { signal });
  if (outcome.kind !== "updated") return { kind: "stale" };
  return { kind: "done", snapshot: { ...snapshot, execution: outcome.object } };
}

function markPatch({ execution, plan }: Snapshot): Patch {
  if (!plan.target) throw new TypeError("an execution without a target is not marked");
  const { labels, finalizer } = requiredMarks(execution, plan.target);
  const { finalizers = [] } = execution.metadata;
  return patchAtVersion(execution, { metadata: { labels, finalizers: [...new Set([...finalizers, finalizer])] } });
}

function unmarkPatch(execution: WorkflowExecution): Patch {
  const { finalizers = [] } = execution.metadata;
  return patchAtVersion(execution, {
    metadata: { finalizers: finalizers.filter((name) => name !== executionFinalizer) },
  });
}
