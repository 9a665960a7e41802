import { describe, expect, it } from "vitest";
import type { RunState } from "../engines/index.ts";
import type { Decision } from "../kube/index.ts";
import { defaultPolicy } from "../policy/index.ts";
import {
  executionFinalizer,
  type ObjectTarget,
  parseTarget,
  type RemediationTarget,
  type RemediationWorkflow,
  type WorkflowExecution,
  type WorkflowExecutionStatus,
  type WorkflowHistory,
} from "../resources/index.ts";
import type { Action } from "./action.ts";
import type { ValidPlan } from "./admission/plan.ts";
import { decide } from "./decide.ts";
import type { ObservedRun, RunOwner, Snapshot } from "./snapshot.ts";
import { requiredMarks } from "./snapshot.ts";

const retention = { retentionMs: 168 * 3_600_000, targetRetentionMs: 720 * 3_600_000 };

const now = Date.parse("2026-03-01T12:00:00.000Z");
const minute = 60_000;
const runningStatus: WorkflowExecutionStatus = {
  phase: "Running",
  startTime: iso(now - minute),
  pipelineRunRef: { name: "wfe-1", namespace: "runs", uid: "run-1", kind: "PipelineRun" },
  pipelineRunStatus: { status: "Unknown" },
};

describe("a new execution", () => {
  it("gets its labels and its finalizer before anything else", () => {
    const bare = { ...execution(undefined), metadata: { name: "wfe-a", namespace: "ns", uid: "me" } };

    expect(steps(decide(snapshot({ execution: bare })))).toEqual(["mark"]);
  });

  it("becomes Pending when it has its labels and its finalizer", () => {
    expect(steps(decide(snapshot({ execution: execution(undefined) })))).toEqual(["set-status Pending", "announce"]);
  });
});

describe("a pending execution", () => {
  const pending = execution({ phase: "Pending" });

  it.each<[string, Partial<Snapshot>, readonly string[]]>([
    ["creates the record of its target if there is none", { record: undefined }, ["create-record"]],
    ["is admitted on a free target", {}, ["write-record", "announce"]],
    [
      "is skipped when another execution holds the target",
      { record: heldBy("other") },
      ["set-status Skipped", "announce"],
    ],
    ["creates its run when it holds the target", { record: heldBy("me") }, ["record", "create-run"]],
    ["fails if its run is refused", { record: heldBy("me"), refusal }, ["set-status Failed", "announce"]],
    [
      "finds its own run after a crash, and never skips itself",
      { record: heldBy("me"), run: run({ kind: "suspended" }) },
      ["record", "set-status Running"],
    ],
    [
      "removes a finished run of another one that has settled",
      { record: heldBy("me"), run: run(succeeded, { kind: "other", name: "wfe-b", settled: true }) },
      ["delete-run"],
    ],
    [
      "removes a run that another one created too late",
      { record: heldBy("me"), run: run({ kind: "suspended" }, { kind: "other", name: "wfe-b", settled: false }) },
      ["delete-run"],
    ],
    [
      "waits for a finished run that has not settled",
      { record: heldBy("me"), run: run(succeeded, { kind: "other", name: "wfe-b", settled: false }) },
      ["announce"],
    ],
    [
      "waits for a run that is at work, whatever the record says",
      { record: heldBy("me"), run: run(working, { kind: "other", name: "wfe-b", settled: true }) },
      ["announce"],
    ],
    [
      "fails on a run that is not one of ours",
      { record: heldBy("me"), run: run(succeeded, { kind: "foreign", why: "made by hand" }) },
      ["set-status Failed", "announce"],
    ],
  ])("%s", (_what, world, expected) => {
    expect(steps(decide(snapshot({ execution: pending, ...world })))).toEqual(expected);
  });

  it.each<[string, Partial<Snapshot>, readonly string[]]>([
    [
      "is admitted by the cached record, once the entry is confirmed",
      {},
      ["confirm entry", "write-record", "announce"],
    ],
    ["is not skipped because of a cached record", { record: heldBy("other") }, ["confirm record"]],
    [
      "is skipped by the current record, whatever its entry is now",
      { record: heldBy("other"), unconfirmed: { record: false, entry: true } },
      ["set-status Skipped", "announce"],
    ],
    [
      "is not skipped because of the cooldown in a cached entry",
      { record: withHistory({ lastSuccess: recentSuccess }), unconfirmed: { record: false, entry: true } },
      ["confirm entry", "set-status Skipped", "announce"],
    ],
    [
      "does not fail because of a cached entry",
      { plan: { kind: "invalid", target: target(), problem: "wrong" } },
      ["observe-again"],
    ],
    [
      "does not fail because its holder in a cached record was admitted by another entry",
      { record: heldBy("me"), plan: { ...plan(), entry: entry("other") } },
      ["observe-again"],
    ],
    [
      "that holds the cached record has its run created, once the entry is confirmed",
      { record: heldBy("me") },
      ["confirm entry", "record", "create-run"],
    ],
  ])("whose record and entry are from a cache %s", (_what, world, expected) => {
    const unconfirmed = { record: true, entry: true };

    expect(steps(decide(snapshot({ execution: pending, unconfirmed, ...world })))).toEqual(expected);
  });

  it("records that it holds the target, deletes its run and frees the target while it is being deleted", () => {
    const deleted = being(pending);
    const owed = {
      type: "TargetFreed",
      status: "False",
      reason: "Admitted",
      message: "",
      lastTransitionTime: "",
    } as const;
    const noted = being(execution({ phase: "Pending", conditions: [owed] }));
    const suspended = run({ kind: "suspended" });

    expect(steps(decide(snapshot({ execution: deleted, record: heldBy("me"), run: suspended })))).toEqual([
      "record",
      "set-status Pending",
    ]);
    expect(steps(decide(snapshot({ execution: noted, record: heldBy("me"), run: suspended })))).toEqual(["delete-run"]);
    expect(steps(decide(snapshot({ execution: noted, record: heldBy("me") })))).toEqual(["write-record"]);
    expect(steps(decide(snapshot({ execution: noted })))).toEqual(["record-freed", "set-status Pending", "announce"]);
    expect(steps(decide(snapshot({ execution: deleted })))).toEqual(["record", "unmark"]);
  });
});

describe("a running execution", () => {
  const running = execution(runningStatus);

  it.each<[string, Partial<Snapshot>, readonly string[]]>([
    ["starts its run", { run: run({ kind: "suspended" }) }, ["record", "start-run", "announce"]],
    ["waits while its run does not change", { run: run(working) }, []],
    [
      "mirrors what is new",
      { run: run({ kind: "running", progress: { completedTasks: 1, totalTasks: 3 } }) },
      ["mirror-run"],
    ],
    ["completes with its run", { run: run(succeeded) }, ["set-status Completed", "announce"]],
    ["fails with its run", { run: run(failed) }, ["set-status Failed", "announce"]],
    ["fails when its run was deleted", { run: undefined }, ["set-status Failed", "announce"]],
    [
      "fails when another run has the name",
      { run: { ...run(working), uid: "run-2" } },
      ["set-status Failed", "announce"],
    ],
    [
      "waits until everything of a cancelled run has stopped, and names it",
      { run: { ...run(failed), failure: { ...failure, unfinished: ["pod-1"] } } },
      ["set-status Running"],
    ],
  ])("%s", (_what, world, expected) => {
    expect(steps(decide(snapshot({ execution: running, record: heldBy("me"), ...world })))).toEqual(expected);
  });

  it("is cancelled once at its timeout, and waits for the end of its run", () => {
    const late = { execution: running, record: heldBy("me"), nowMs: now + 60 * minute };

    expect(steps(decide(snapshot({ ...late, run: run(working) })))).toEqual(["record", "cancel-run"]);
    const cancelled = { ...run(working), cancelledBecause: "Timeout" as const };
    expect(steps(decide(snapshot({ ...late, run: cancelled })))).toEqual([]);
  });

  it("is cancelled when it is deleted, and keeps the target until its run has stopped", () => {
    const next = decide(snapshot({ execution: being(running), record: heldBy("me"), run: run(working) }));

    expect(steps(next)).toEqual(["record", "cancel-run"]);
  });
});

describe("an execution that has ended", () => {
  const completed: WorkflowExecutionStatus = {
    phase: "Completed",
    startTime: iso(now - 2 * minute),
    completionTime: iso(now - minute),
    duration: "1m",
    outcome: "Success",
    pipelineRunRef: { name: "wfe-1", namespace: "runs", uid: "run-1", kind: "PipelineRun" },
  };
  const recordedEnd = execution({ ...completed, conditions: [recorded()] });

  it("folds its end into the record, which frees the target", () => {
    expect(steps(decide(snapshot({ execution: execution(completed), record: heldBy("me") })))).toEqual([
      "write-record",
    ]);
  });

  it("keeps its run until the cooldown is over, then removes it", () => {
    const next = decide(snapshot({ execution: recordedEnd, run: run(succeeded) }));

    expect(next).toEqual({ actions: [], requeueAfterMs: 4 * minute });
    expect(steps(decide(snapshot({ execution: recordedEnd, run: run(succeeded), nowMs: now + 4 * minute })))).toEqual([
      "delete-run",
    ]);
  });

  it("deletes a run that was created for it too late", () => {
    expect(
      steps(decide(snapshot({ execution: recordedEnd, run: { ...run({ kind: "suspended" }), uid: "run-2" } }))),
    ).toEqual(["delete-run"]);
  });

  const retained = retention.retentionMs - minute;

  it.each<[string, Partial<Snapshot>, readonly string[]]>([
    ["is kept until its retention is over", { nowMs: now + retained - 1 }, []],
    ["is deleted at the end of its retention", { nowMs: now + retained }, ["delete-execution"]],
    ["is deleted although its record was deleted", { nowMs: now + retained, record: undefined }, ["delete-execution"]],
    ["is kept while its workflow's cooldown lasts", { plan: { ...plan(), cooldownMs: 2 * retention.retentionMs } }, []],
    [
      "is kept while its workflow awaits an acknowledgement on the target",
      { record: withHistory({ ineffective: { latestSuccess: foldedHistory().lastSuccess, foundAt: iso(now) } }) },
      [],
    ],
    ["is not deleted if it has an owner", { execution: owned(recordedEnd) }, []],
  ])("%s", (_what, world, expected) => {
    expect(steps(decide(snapshot({ execution: recordedEnd, nowMs: now + retained, ...world })))).toEqual(expected);
  });

  it("is kept after a failure while acting if its record was deleted, because the record is rebuilt from it", () => {
    const failureDetails = {
      ...{ reason: "TaskRunFailed" as const, message: "exit 1", failedAt: iso(now), naturalLanguageSummary: "" },
      ...{ wasExecutionFailure: true, requiresManualReview: true },
    };
    const status = { phase: "Failed", outcome: "Failed", completionTime: iso(now), failureDetails } as const;
    const failed = execution({ ...status, conditions: [recorded()] });

    const next = decide(snapshot({ execution: failed, record: undefined, nowMs: now + 2 * retention.retentionMs }));

    expect(next.actions).toEqual([]);
  });

  it("never deletes the run of another execution, even when it is deleted itself", () => {
    const others = run(working, { kind: "other", name: "wfe-b", settled: false });

    expect(steps(decide(snapshot({ execution: recordedEnd, run: others })))).toEqual([]);
    const folded = { ...heldBy("wfe-b"), status: { workflows: [foldedHistory()] } };
    expect(steps(decide(snapshot({ execution: being(recordedEnd), run: others, record: folded })))).toEqual([
      "record",
      "unmark",
    ]);
  });
});

function steps({ actions }: Decision<Action>): readonly string[] {
  return actions.map((action) => {
    if (action.do === "set-status") return `set-status ${action.status.phase}`;
    return action.do === "confirm" ? `confirm ${action.what}` : action.do;
  });
}

const { cooldownEnded: _, ...recentSuccess } = foldedHistory().lastSuccess;
const refusal = { reason: "PipelineRunCreationFailed" as const, message: "refused" };
const working: RunState = { kind: "running", progress: {} };
const succeeded: RunState = { kind: "succeeded", progress: {}, completedAt: iso(now) };
const failed: RunState = { kind: "failed", progress: {}, completedAt: iso(now) };
const failure = { reason: "TaskRunFailed" as const, message: "exit 1", anythingStarted: true };

function snapshot(world: Partial<Snapshot>): Snapshot {
  return {
    nowMs: now,
    execution: execution({ phase: "Pending" }),
    plan: plan(),
    record: { ...heldBy("me"), status: { workflows: [] } },
    unconfirmed: { record: false, entry: false },
    run: undefined,
    pauses: [],
    settings: { ...defaultPolicy, runTtlMs: 60 * minute, ...retention, incidentsNamespace: "ns" },
    ...world,
  };
}

function execution(status: WorkflowExecutionStatus | undefined): WorkflowExecution {
  const spec = { workflowRef: { workflowId: "cleanup", containerImage: "x" }, targetResource: "node/worker-1" };
  const metadata = { name: "wfe-a", namespace: "ns", uid: "me", resourceVersion: "7" };
  const bare = { metadata, spec };
  const marks = { labels: requiredMarks(bare, target()).labels, finalizers: [executionFinalizer] };
  return { metadata: { ...metadata, ...marks }, spec, ...(status ? { status } : {}) };
}

/** With its deletion asked for. */
function being(deleted: WorkflowExecution): WorkflowExecution {
  return { ...deleted, metadata: { ...deleted.metadata, deletionTimestamp: iso(now) } };
}

function owned(execution: WorkflowExecution): WorkflowExecution {
  const owner = { apiVersion: "kubernaut.ai/v1alpha1", kind: "RemediationRequest", name: "rr-1", uid: "rr" };
  return { ...execution, metadata: { ...execution.metadata, ownerReferences: [owner] } };
}

/** A free target with more in the history of the execution's workflow. */
function withHistory(more: Partial<WorkflowHistory>): RemediationTarget {
  return { ...heldBy("me"), status: { workflows: [{ ...foldedHistory(), ...more }] } };
}

function plan(): ValidPlan {
  return {
    kind: "valid",
    target: target(),
    entry: undefined,
    requiresApproval: false,
    containerImage: "x",
    args: undefined,
    version: undefined,
    engine: "tekton",
    pipeline: "workflow",
    serviceAccountName: undefined,
    parameters: {},
    timeoutMs: 30 * minute,
    cooldownMs: 5 * minute,
    observe: false,
  };
}

function entry(uid: string): RemediationWorkflow {
  const spec = { workflowId: "cleanup", version: "1", description: "", containerImage: "x", pipeline: "workflow" };
  return { metadata: { name: "cleanup-1", namespace: "ns", uid }, spec };
}

function heldBy(uid: string): RemediationTarget {
  const names = {
    executionName: `wfe-${uid}`,
    executionNamespace: "ns",
    workflowId: "cleanup",
    engine: "tekton" as const,
  };
  return {
    metadata: { name: "hash", namespace: "runs", resourceVersion: "5" },
    spec: { targetResource: "node/worker-1" },
    status: { holder: { executionUid: uid, ...names, since: iso(now - minute) } },
  };
}

function foldedHistory() {
  const end = {
    executionUid: "me",
    executionName: "wfe-a",
    executionNamespace: "ns",
    outcome: "Success" as const,
    completedAt: iso(now - minute),
    cooldownEnded: true as const,
  };
  return { workflowId: "cleanup", consecutiveFailures: 0, lastSuccess: end, recentEnds: [end] };
}

function run(state: RunState, owner: RunOwner = { kind: "us" }): ObservedRun {
  const object = { kind: "PipelineRun", metadata: { name: "wfe-1", namespace: "runs", uid: "run-1" } };
  const workload = { engine: "tekton", image: "x" } as const;
  return { object, uid: "run-1", state, owner, workload, ...(state.kind === "failed" ? { failure } : {}) };
}

function recorded() {
  return { type: "Recorded", status: "True" as const, lastTransitionTime: iso(now), reason: "Completed", message: "" };
}

function target(): ObjectTarget {
  const read = parseTarget("node/worker-1");
  if (read.kind === "problem" || read.target.type !== "object") throw new Error("not a target");
  return read.target;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

describe("an execution that an operator cancels", () => {
  const annotations = { "kubernaut.ai/cancel-requested": "not now", "kubernaut.ai/cancel-requested-by": "kim" };
  const cancelled = (status: WorkflowExecutionStatus) => {
    const { metadata, ...rest } = execution(status);
    return { ...rest, metadata: { ...metadata, annotations } };
  };

  it("never runs if it is cancelled before its run is created", () => {
    const { actions } = decide(snapshot({ execution: cancelled({ phase: "Pending" }), record: heldBy("me") }));

    expect(actions.map(({ do: action }) => action)).not.toContain("create-run");
    expect(steps({ actions })).toContain("set-status Failed");
  });

  it("has its run cancelled if that is not started yet", () => {
    const next = decide(
      snapshot({ execution: cancelled(runningStatus), record: heldBy("me"), run: run({ kind: "suspended" }) }),
    );

    expect(steps(next)).toEqual(["record", "record", "cancel-run"]);
  });
});

describe("an execution whose target is held by another execution", () => {
  it("does not start its run", () => {
    const next = decide(
      snapshot({ execution: execution(runningStatus), record: heldBy("other"), run: run({ kind: "suspended" }) }),
    );

    expect(steps(next)).toEqual(["record", "cancel-run"]);
  });
});

describe("an execution of a workflow that requires an approval", () => {
  it("fails without one", () => {
    const next = decide(snapshot({ plan: { ...plan(), requiresApproval: true } }));

    expect(steps(next)).toEqual(["set-status Failed", "announce"]);
  });
});
