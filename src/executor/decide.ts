import { cancelRequestOn } from "../resources/index.ts";
import type { Action, Turn } from "./action.ts";
import { admitOrSkip } from "./admission.ts";
import { approvalProblem, requiresApproval } from "./approval.ts";
import { cancellationOf } from "./cancellation.ts";
import { cancelledBefore, completed, failed, failedBefore, failureOfRun } from "./endings.ts";
import * as events from "./ledger-events.ts";
import { isMarked } from "./marks.ts";
import type { ValidPlan } from "./plan.ts";
import type { CancelReason, Seen, SeenRun } from "./seen.ts";
import { settle } from "./settle.ts";
import { mirrored, pending, running } from "./statuses.ts";

/**
 * The next step of an execution.
 *
 *     (new) → Pending → Running → Completed | Failed
 *                ├──→ Skipped        another check of the policy said no
 *                └──→ Failed         invalid, or the run was refused
 *
 * The target is held from the write of the record that admits the execution until the write that folds its end.
 */
export function decide(seen: Seen): Turn {
  const { status } = seen.execution;
  switch (status?.phase) {
    case undefined:
      return decideNew(seen);
    case "Pending":
      return decidePending(seen);
    case "Running":
      return decideRunning(seen, status);
    case "Completed":
    case "Failed":
    case "Skipped":
      return settle(seen);
  }
}

function decideNew(seen: Seen): Turn {
  if (seen.execution.metadata.deletionTimestamp) return settle(seen);
  // Found by its target's hash and kept by its finalizer, before anything is done for it.
  if (seen.plan.target && !isMarked(seen.execution, seen.plan.target)) return act({ do: "mark" });
  return act({ do: "set-status", status: pending() }, { do: "announce", what: { kind: "pending" } });
}

function decidePending(seen: Seen): Turn {
  const { execution, plan, record, run, refusal } = seen;
  const holdsTarget = record?.status?.holder?.executionUid === execution.metadata.uid;
  if (execution.metadata.deletionTimestamp) return settle(seen);
  const cancel = cancellationOf(seen);
  if (cancel) return cancelledBefore(seen, cancel);
  if (plan.kind === "invalid") {
    if (!holdsTarget) return failedBefore(seen, { reason: "ValidationError", message: plan.problem });
    // It was valid when it was admitted: the catalog changed under it.
    const { actions } = failedBefore(seen, { reason: "ConfigurationError", message: plan.problem });
    return act({ do: "record", event: events.admitted(seen) }, ...actions);
  }
  const unapproved = holdsTarget ? undefined : approvalGap(seen, plan);
  if (unapproved) return failedBefore(seen, { reason: "ValidationError", message: unapproved });
  if (!record?.status) return act({ do: "create-record" });
  if (!holdsTarget) return admitOrSkip(seen, plan);
  if (refusal) return failedBefore(seen, refusal);
  // A record that was made again does not know by which entry, nor by which approval, it was admitted.
  if (!run && record.status.holder?.catalogEntryUid !== plan.entry?.metadata.uid) {
    const message = "the target's record was lost before the run was created: it is not known what admitted it";
    const { actions } = failedBefore(seen, { reason: "ConfigurationError", message });
    return act({ do: "record", event: events.admitted(seen) }, ...actions);
  }
  if (!run) return act({ do: "record", event: events.admitted(seen) }, { do: "create-run" });
  if (run.owner.kind !== "us") return makeRoom(seen, run);
  // Before the run is started: another replica may be about to skip this execution, and only one of the two can be written.
  return act({ do: "record", event: events.runCreated(seen, run) }, { do: "set-status", status: running(seen, run) });
}

/** Why it may not be admitted for want of an approval. */
function approvalGap({ execution, approval, record }: Seen, plan: ValidPlan): string | undefined {
  if (!requiresApproval(plan)) return undefined;
  return approvalProblem({ execution, plan, approval, record: record?.status });
}

/** The name of our run is taken. */
function makeRoom(seen: Seen, run: SeenRun): Turn {
  const { owner, state } = run;
  if (owner.kind === "foreign") {
    return failedBefore(seen, { reason: "PipelineRunCreationFailed", message: owner.why });
  }
  // A run that was created late, after its execution had lost the target, never started and never will.
  const mayGo = state.kind === "suspended" || (state.kind !== "running" && owner.kind === "other" && owner.settled);
  // Its end is an event that wakes us.
  if (run.object.metadata.deletionTimestamp) return { actions: [], lookAgainInMs: 5_000 };
  if (mayGo) return act({ do: "delete-run", run });

  const why = `the run of ${owner.kind === "other" ? owner.name : "another execution"} is not settled yet`;
  return { actions: [{ do: "announce", what: { kind: "blocked-by-run", why } }], lookAgainInMs: 1_000 };
}

type RunningStatus = Extract<NonNullable<Seen["execution"]["status"]>, { phase: "Running" }>;

function decideRunning(seen: Seen, status: RunningStatus): Turn {
  const run = seen.run?.uid === status.pipelineRunRef.uid ? seen.run : undefined;
  if (!run) return failed(seen, { ...deletedRun, message: `the run ${status.pipelineRunRef.name} was deleted` });
  switch (run.state.kind) {
    case "succeeded":
      return completed(seen, run, run.state);
    case "failed":
      // Over, but with something of it still at work: the target is not free before that has gone, too.
      return run.failure?.unfinished ? { actions: [], lookAgainInMs: 1_000 } : failed(seen, failureOfRun(seen, run));
    case "suspended":
      return cancelReason(seen, status, run) ? keepWatching(seen, status, run) : start(seen, run);
    case "running":
      return keepWatching(seen, status, run);
  }
}

function start(seen: Seen, run: SeenRun): Turn {
  if (!seen.record?.status) return act({ do: "create-record" });
  return act(
    { do: "record", event: events.started(seen, run) },
    { do: "start-run", run },
    { do: "announce", what: { kind: "started" } },
  );
}

/** Whatever it did before it vanished, it had begun. */
const deletedRun = { reason: "PipelineRunDeleted", anythingStarted: true } as const;

function keepWatching(seen: Seen, status: RunningStatus, run: SeenRun): Turn {
  const cancel = cancelReason(seen, status, run);
  const requested = cancel === "Requested" ? cancellationOf(seen) : undefined;
  if (cancel && !run.cancelledBecause) {
    return act(
      ...(requested ? [{ do: "record", event: events.cancelRequested(seen, requested) } as const] : []),
      { do: "record", event: events.cancelled(seen, run, cancel) },
      { do: "cancel-run", run, because: cancel },
    );
  }
  // The end of a cancelled run is an event, too; only a run that never ends has to be asked for.
  if (cancel) return { actions: mirror(status, run), lookAgainInMs: 10_000 };
  return { actions: mirror(status, run), lookAgainInMs: Math.max(1, deadlineMs(seen, status) - seen.nowMs) };
}

function mirror(status: RunningStatus, run: SeenRun): readonly Action[] {
  const next = mirrored(status, run);
  return next === status ? [] : [{ do: "mirror-run", run, status: next }];
}

function cancelReason(seen: Seen, status: RunningStatus, run: SeenRun): CancelReason | undefined {
  const { metadata } = seen.execution;
  const { status: record } = seen.record ?? {};
  if (metadata.deletionTimestamp) return "ExecutionDeleted";
  if (cancelRequestOn(seen.execution)) return "Requested";
  if (run.state.kind === "suspended" && record && record.holder?.executionUid !== metadata.uid) return "TargetLost";
  return seen.nowMs >= deadlineMs(seen, status) ? "Timeout" : undefined;
}

/** Engines know the timeout themselves. This is for one that does not keep it. */
const timeoutGraceMs = 30_000;

function deadlineMs({ plan }: Seen, { startTime }: RunningStatus): number {
  if (plan.kind === "invalid") return Number.MAX_SAFE_INTEGER;
  return Date.parse(startTime) + plan.timeoutMs + timeoutGraceMs;
}

function act(...actions: readonly Action[]): Turn {
  return { actions };
}
