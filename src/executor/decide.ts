import { isDeepStrictEqual } from "node:util";
import { type Decision, lostEventMs, requeueAfter } from "../kube/index.ts";
import { type RunStatus, readCancelRequest } from "../resources/index.ts";
import { type Action, act, confirmEntry } from "./action.ts";
import { admitOrSkip } from "./admission/admission.ts";
import { approvalProblem } from "./admission/approval.ts";
import type { ValidPlan } from "./admission/plan.ts";
import {
  cancelledBefore,
  completeExecution,
  explainFailure,
  failExecution,
  failedBefore,
  readCancellation,
} from "./endings/endings.ts";
import { settle, slowRemoval } from "./endings/settle.ts";
import * as events from "./reports/ledger-events.ts";
import { type CancelReason, findHolder, isMarked, type ObservedRun, type Snapshot } from "./snapshot.ts";
import { mirroredStatus, type PhaseStatus, runningStatus, toSummary } from "./statuses.ts";

/**
 * Decides the next step of an execution.
 *
 *     (new) → Pending → Running → Completed | Failed
 *                ├──→ Skipped        a check of the policy blocks it
 *                └──→ Failed         invalid, or the run was refused
 *
 * The target is held from the write of the record that admits the execution until the write that folds its end.
 */
export function decide(snapshot: Snapshot): Decision<Action> {
  const { status } = snapshot.execution;
  switch (status?.phase) {
    case undefined:
      return decideNew(snapshot);
    case "Pending":
      return decidePending(snapshot);
    case "Running":
      return decideRunning(snapshot, status);
    case "Completed":
    case "Failed":
    case "Skipped":
      return settle(snapshot);
  }
}

function decideNew(snapshot: Snapshot): Decision<Action> {
  if (snapshot.execution.metadata.deletionTimestamp) return settle(snapshot);
  // First of all: the label by which the execution is found, and the finalizer that keeps it.
  if (snapshot.plan.target && !isMarked(snapshot.execution, snapshot.plan.target)) return act({ do: "mark" });
  return act({ do: "set-status", status: { phase: "Pending" } }, { do: "announce", what: { kind: "pending" } });
}

function decidePending(snapshot: Snapshot): Decision<Action> {
  const { execution, plan, record, run, refusal, unconfirmed } = snapshot;
  const holdsTarget = findHolder(execution, record) !== undefined;
  if (execution.metadata.deletionTimestamp) return settle(snapshot);
  const cancel = readCancellation(snapshot);
  if (cancel) return cancelledBefore(snapshot, cancel);
  const problem = plan.kind === "invalid" ? plan.problem : !holdsTarget && approvalGap(snapshot, plan);
  if (problem && (unconfirmed.record || unconfirmed.entry)) return act({ do: "observe-again" });
  if (problem && !holdsTarget) return failedBefore(snapshot, { reason: "ValidationError", message: problem });
  // The execution was valid when it was admitted. The catalog has changed since.
  if (plan.kind === "invalid") return failAfterAdmission(snapshot, plan.problem);
  if (!record?.status) return act({ do: "create-record" });
  if (!holdsTarget) return admitOrSkip(snapshot, plan);
  if (refusal) return failedBefore(snapshot, refusal);
  // A record that was rebuilt has neither the entry nor the approval by which the execution was admitted.
  if (!run && record.status.holder?.catalogEntryUid !== plan.entry?.metadata.uid) {
    if (unconfirmed.record) return act({ do: "observe-again" });
    const message = "the target's record was lost before the run was created: the admission cannot be verified";
    return failAfterAdmission(snapshot, message);
  }
  if (!run) {
    return act(
      ...confirmEntry(snapshot),
      { do: "record", event: events.executionAdmittedEvent(snapshot) },
      { do: "create-run" },
    );
  }
  if (run.owner.kind !== "us") return freeRunName(snapshot, run);
  // Before the run is started: another replica may be about to skip this execution, and only one of the two can be written.
  return act(
    { do: "record", event: events.runCreatedEvent(snapshot, run) },
    { do: "set-status", status: runningStatus(snapshot, run) },
  );
}

/** Fails an execution that was admitted and has no run. */
function failAfterAdmission(snapshot: Snapshot, message: string): Decision<Action> {
  const { actions } = failedBefore(snapshot, { reason: "ConfigurationError", message });
  return act({ do: "record", event: events.executionAdmittedEvent(snapshot) }, ...actions);
}

/** Returns why the execution is not admitted without an approval. */
function approvalGap({ execution, approval, record }: Snapshot, plan: ValidPlan): string | undefined {
  if (!plan.requiresApproval) return undefined;
  return approvalProblem({ execution, plan, approval, record: record?.status });
}

/** Decides how to free the run's name, which the run of another owner has. */
function freeRunName(snapshot: Snapshot, run: ObservedRun): Decision<Action> {
  const { owner, state } = run;
  if (owner.kind === "foreign") {
    return failedBefore(snapshot, { reason: "PipelineRunCreationFailed", message: owner.why });
  }
  // A run that was created after its execution had lost the target is never started.
  const isDeletable =
    state.kind === "suspended" || (state.kind !== "running" && owner.kind === "other" && owner.settled);
  if (run.object.metadata.deletionTimestamp) {
    const { problem, inMs } = slowRemoval(snapshot, run);
    const isKept = problem !== undefined && state.kind !== "running";
    // Its deletion is an event. A finished run that finalizers keep must not hold the target forever.
    if (!isKept) return requeueAfter(Math.min(inMs, lostEventMs));
    return failedBefore(snapshot, { reason: "PipelineRunCreationFailed", message: problem });
  }
  if (isDeletable) return act({ do: "delete-run", run });

  const why = `the run of ${owner.kind === "other" ? owner.name : "another execution"} is not settled yet`;
  return { actions: [{ do: "announce", what: { kind: "blocked-by-run", why } }], requeueAfterMs: 1_000 };
}

type RunningStatus = PhaseStatus<"Running">;

function decideRunning(snapshot: Snapshot, status: RunningStatus): Decision<Action> {
  const run = snapshot.run?.uid === status.pipelineRunRef.uid ? snapshot.run : undefined;
  if (!run) return failWithoutRun(snapshot, status);
  switch (run.state.kind) {
    case "succeeded":
      return completeExecution(snapshot, run, run.state);
    case "failed":
      return run.failure?.unfinished
        ? waitForPods(status, run.failure.unfinished, toSummary(run))
        : failExecution(snapshot, explainFailure(snapshot, run));
    case "suspended":
      return cancelReason(snapshot, status, run) ? keepWatching(snapshot, status, run) : start(snapshot, run);
    case "running":
      return keepWatching(snapshot, status, run);
  }
}

/** Fails an execution whose run was deleted, when the pods of the run have ended, too. */
function failWithoutRun(snapshot: Snapshot, status: RunningStatus): Decision<Action> {
  const { pipelineRunRef } = status;
  const { remainingPods = [] } = snapshot;
  if (remainingPods.length > 0)
    return waitForPods(status, remainingPods, { status: "False", reason: deletedRun.reason });
  return failExecution(snapshot, { ...deletedRun, message: `the run ${pipelineRunRef.name} was deleted` });
}

/** The run has ended or was deleted, and pods of it are still active: they hold the target, and the status names them. */
function waitForPods(status: RunningStatus, pods: readonly string[], ended: RunStatus): Decision<Action> {
  const message = `the run has ended, but not its pods ${pods.join(", ")}: the target is held until they end`;
  const next = { ...status, pipelineRunStatus: { ...ended, message } };
  const actions = isDeepStrictEqual(next, status) ? [] : [{ do: "set-status", status: next } as const];
  return { actions, requeueAfterMs: 1_000 };
}

function start(snapshot: Snapshot, run: ObservedRun): Decision<Action> {
  if (!snapshot.record?.status) return act({ do: "create-record" });
  return act(
    { do: "record", event: events.runStartedEvent(snapshot, run) },
    { do: "start-run", run },
    { do: "announce", what: { kind: "started" } },
  );
}

/** A run that was deleted had been started. */
const deletedRun = { reason: "PipelineRunDeleted", anythingStarted: true } as const;

function keepWatching(snapshot: Snapshot, status: RunningStatus, run: ObservedRun): Decision<Action> {
  const cancel = cancelReason(snapshot, status, run);
  const requested = cancel === "Requested" ? readCancellation(snapshot) : undefined;
  if (cancel && !run.cancelledBecause) {
    return act(
      ...(requested ? [{ do: "record", event: events.cancelRequestedEvent(snapshot, requested) } as const] : []),
      { do: "record", event: events.runCancelledEvent(snapshot, run, cancel) },
      { do: "cancel-run", run, because: cancel },
    );
  }
  // The end of a cancelled run is an event, too; only a run that does not end has to be checked.
  if (cancel) return { actions: mirror(status, run), requeueAfterMs: 10_000 };
  return { actions: mirror(status, run), requeueAfterMs: Math.max(1, deadlineMs(snapshot, status) - snapshot.nowMs) };
}

function mirror(status: RunningStatus, run: ObservedRun): readonly Action[] {
  const next = mirroredStatus(status, run);
  return next === status ? [] : [{ do: "mirror-run", run, status: next }];
}

function cancelReason(snapshot: Snapshot, status: RunningStatus, run: ObservedRun): CancelReason | undefined {
  const { execution, record } = snapshot;
  if (execution.metadata.deletionTimestamp) return "ExecutionDeleted";
  if (readCancelRequest(execution)) return "Requested";
  if (run.state.kind === "suspended" && record?.status && !findHolder(execution, record)) return "TargetLost";
  return snapshot.nowMs >= deadlineMs(snapshot, status) ? "Timeout" : undefined;
}

/** Engines enforce the timeout themselves. This deadline is for a run that exceeds it. */
const timeoutGraceMs = 30_000;

function deadlineMs({ plan }: Snapshot, { startTime }: RunningStatus): number {
  if (plan.kind === "invalid") return Number.MAX_SAFE_INTEGER;
  return Date.parse(startTime) + plan.timeoutMs + timeoutGraceMs;
}
