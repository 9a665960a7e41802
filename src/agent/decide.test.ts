import { describe, expect, it } from "vitest";
import type { Decision } from "../kube/index.ts";
import type { Pause } from "../policy/index.ts";
import { annotationKeys, type CodingTask, type CodingTaskStatus } from "../resources/index.ts";
import { draftTask } from "../tasks/index.ts";
import { type Action, decide, type Snapshot } from "./decide.ts";
import type { Interruption, Work } from "./work/workers.ts";

const nowMs = Date.parse("2026-11-15T12:00:00.000Z");
const day = 24 * 3_600_000;

describe("a coding task", () => {
  it.each<[string, Partial<Making>, string]>([
    ["starts a review at once", { type: "Review" }, "work"],
    ["acknowledges a comment first", { steps: [] }, "acknowledge"],
    ["starts an acknowledged comment", {}, "work"],
    ["checks a running task, whose replica may be dead", { phase: "Running" }, "work"],
    ["waits for the next attempt", { phase: "Waiting", nextAttemptInMs: 30_000 }, "look-again"],
    ["starts the next attempt in time", { phase: "Waiting", nextAttemptInMs: 0 }, "work"],
    ["ends a cancelled task that has not started", { cancel: true }, "settle"],
    ["leaves a cancelled running task to its attempt", { phase: "Running", attempts: 1, cancel: true }, "work"],
    [
      "ends a task that is cancelled between two attempts",
      { phase: "Waiting", attempts: 1, nextAttemptInMs: 9, cancel: true },
      "work",
    ],
    [
      "waits for the next attempt to report a cancellation",
      { phase: "Waiting", attempts: 1, nextAttemptInMs: 9, cancel: true, reported: "cancelled" },
      "look-again",
    ],
    [
      "waits for the next attempt to report a failure, also if it is cancelled meanwhile",
      { phase: "Waiting", attempts: 1, nextAttemptInMs: 9, cancel: true, reported: "failed" },
      "look-again",
    ],
    ["keeps a closed task during its retention", { phase: "Completed", endedAgoMs: day - 1 }, "look-again"],
    ["removes a closed task after its retention", { phase: "Completed", endedAgoMs: day }, "remove"],
  ])("%s", (_what, making, expected) => {
    expect(nextStep(decision(task(making)))).toBe(expected);
  });

  it.each<[string, Partial<Making>, Partial<Making>, string]>([
    ["waits for an earlier one", { note: 2 }, { note: 1 }, "wait"],
    ["does not wait for a later one", { note: 1 }, { note: 2 }, "work"],
    ["waits for a later one that is running", { note: 1 }, { note: 2, phase: "Running" }, "wait"],
    [
      "does not wait for one that waits for its next attempt",
      { note: 2 },
      { note: 1, phase: "Waiting", nextAttemptInMs: 9 },
      "work",
    ],
    ["does not wait for a closed one", { note: 2 }, { note: 1, phase: "Failed" }, "work"],
    ["continues if it is running", { note: 2, phase: "Running" }, { note: 1 }, "work"],
    [
      "is ordered by the second of its creation first",
      { note: 1, createdAgoMs: 0 },
      { note: 2, createdAgoMs: 1_000 },
      "wait",
    ],
    [
      "waits for no other if it does not change a branch",
      { note: 2, verb: "status" },
      { note: 1, phase: "Running" },
      "work",
    ],
  ])("%s", (_what, making, other, expected) => {
    expect(nextStep(decision(task(making), [task(other)]))).toBe(expected);
  });

  it.each<[string, Partial<Making>, string]>([
    ["does not start", {}, "pause"],
    ["is not reviewed", { type: "Review" }, "pause"],
    ["is acknowledged", { steps: [] }, "acknowledge"],
    ["is answered if it is a built-in command", { verb: "status" }, "work"],
    ["continues if it has started", { phase: "Running", attempts: 1 }, "work"],
    ["continues if it is handed over", { phase: "Waiting", attempts: 1 }, "work"],
    ["is not retried", { phase: "Waiting", attempts: 1, nextAttemptInMs: 0 }, "pause"],
    ["can be cancelled", { cancel: true }, "settle"],
    ["is removed after its retention", { phase: "Completed", endedAgoMs: day }, "remove"],
  ])("on a paused branch %s", (_what, making, expected) => {
    expect(nextStep(decision(task(making), [], [pause()]))).toBe(expected);
  });

  it("that solves an issue is remembered longer, because the issue may be read again", () => {
    const { spec, ...rest } = task({ phase: "Completed", endedAgoMs: day });
    const issue = { ...rest, spec: { ...spec, type: "Issue" } } as CodingTask;

    expect(decision(issue)).toEqual({ actions: [], requeueAfterMs: 29 * day });
  });

  it("names the pause that it waits for, and keeps its steps and attempts", () => {
    const waiting = task({ phase: "Waiting", attempts: 1, nextAttemptInMs: 30_000 });

    const status = writtenStatus(decision(waiting, [], [pause({ until: iso(nowMs + day) })]));

    expect(status).toEqual({
      phase: "Waiting",
      pause: { name: "pause-1", requestedBy: "kim", reason: "upgrade", until: iso(nowMs + day) },
      message: `paused: pause-1 by kim (upgrade); clears at ${iso(nowMs + day)}`,
      nextAttemptTime: iso(nowMs + 30_000),
      attempts: 1,
      steps: waiting.status?.steps,
    });
  });

  it("continues although an earlier one waits for a pause", () => {
    const begun = task({ note: 2, phase: "Waiting", attempts: 1 });

    expect(nextStep(decision(begun, [task({ note: 1 })], [pause()]))).toBe("work");
  });

  it("starts in order after the pause, and no longer names it", () => {
    const [first, second] = [task({ note: 1 }), task({ note: 2 })].map((one) => {
      return { ...one, status: writtenStatus(decision(one, [], [pause()])) };
    }) as [CodingTask, CodingTask];

    expect(nextStep(decision(first, [second]))).toBe("work");
    expect(nextStep(decision(second, [first]))).toBe("wait");
    expect(writtenStatus(decision(second, [first]))).toMatchObject({ position: 1 });
    expect(writtenStatus(decision(second, [first]))).not.toHaveProperty("pause");
  });

  it("that failed before the pause still waits for its next attempt", () => {
    const failed = task({ phase: "Waiting", attempts: 1, nextAttemptInMs: 30_000 });
    const paused = { ...failed, status: writtenStatus(decision(failed, [], [pause()])) };

    const status = writtenStatus(decision(paused));

    expect(status).toMatchObject({ phase: "Waiting", nextAttemptTime: iso(nowMs + 30_000) });
    expect(status).not.toHaveProperty("pause");
    expect(decision({ ...paused, status })).toEqual({ actions: [], requeueAfterMs: 30_000 });
  });

  it("reports its position in the queue, and the task ahead", () => {
    const queue = [task({ note: 1, phase: "Running" }), task({ note: 2 }), task({ note: 4 })];

    const status = writtenStatus(decision(task({ note: 3 }), queue));

    expect(status).toMatchObject({ phase: "Waiting", position: 2, holder: { identity: "comment 1 on group/app!7" } });
  });

  it("keeps its steps and attempts while it waits", () => {
    const waiting = task({ note: 3, attempts: 2 });

    const status = writtenStatus(decision(waiting, [task({ note: 1 })]));

    expect(status).toMatchObject({ attempts: 2, steps: waiting.status?.steps });
  });
});

describe("a coding task among the workers of this process", () => {
  const cancelled = { kind: "cancelled", by: "requested by @me" };
  const ready: Work = { state: "ready", task: task({}) };
  const running: Work = { state: "running", task: task({}) };
  const cancelledTask = task({ phase: "Running", attempts: 1, cancel: true });

  it.each<[string, Partial<Snapshot>, readonly Action[]]>([
    ["is not offered again while it waits for a worker", { work: ready }, []],
    [
      "is withdrawn if another has to end first",
      { work: ready, queue: [task({ note: 0, phase: "Running" })] },
      [{ do: "withdraw" }, { do: "wait", status: expect.objectContaining({ position: 1 }) }],
    ],
    ["is withdrawn if it is closed", { work: ready, task: task({ phase: "Completed" }) }, [{ do: "withdraw" }]],
    ["is not changed by a pause while it runs", { work: running, pauses: [pause()] }, []],
    [
      "is interrupted if it is cancelled",
      { work: running, task: cancelledTask, newerHead: "b" },
      [{ do: "interrupt", why: cancelled as Interruption }],
    ],
    [
      "is not interrupted if it was cancelled before, because its attempt reports that",
      { work: { ...running, task: cancelledTask }, task: cancelledTask, newerHead: "b" },
      [],
    ],
    ["is offered again if it is cancelled", { work: ready, task: cancelledTask }, [{ do: "withdraw" }]],
    [
      "is interrupted by a newer commit",
      { work: running, newerHead: "b" },
      [{ do: "interrupt", why: { kind: "superseded", by: "b" } }],
    ],
    ["is interrupted once by a newer commit", { work: { ...running, state: "interrupted" }, newerHead: "b" }, []],
    ["is interrupted once if it is cancelled", { work: { ...running, state: "interrupted" }, task: cancelledTask }, []],
  ])("%s", (_what, more, expected) => {
    expect(decide(snapshot(more)).actions).toEqual(expected);
  });

  it("no longer names a pause that is over while it waits for a worker", () => {
    const paused = { ...task({}), status: writtenStatus(decision(task({}), [], [pause()])) };

    expect(writtenStatus(decide(snapshot({ work: ready, task: paused })))).not.toHaveProperty("pause");
  });

  it("does not start while another replica is assumed to work on it", () => {
    expect(decide(snapshot({ busyMs: 70 }))).toEqual({ actions: [], requeueAfterMs: 70 });
  });

  it("is removed in time although another replica was assumed to work on it", () => {
    const closed = task({ phase: "Completed", endedAgoMs: day });

    expect(nextStep(decide(snapshot({ busyMs: 70, task: closed })))).toBe("remove");
  });

  it("is not written again with the status that it has", () => {
    const waiting = { ...task({}), status: writtenStatus(decision(task({}), [], [pause()])) };

    expect(decision(waiting, [], [pause()])).toEqual({ actions: [] });
  });
});

function decision(one: CodingTask, queue: readonly CodingTask[] = [], pauses: readonly Pause[] = []) {
  return decide(snapshot({ task: one, queue, pauses }));
}

function snapshot(more: Partial<Snapshot>): Snapshot {
  return {
    task: task({}),
    queue: [],
    pauses: [],
    work: { state: "none" },
    busyMs: 0,
    nowMs,
    keepFinishedMs: day,
    ...more,
  };
}

function nextStep({ actions, requeueAfterMs }: Decision<Action>): string {
  return actions[0]?.do ?? (requeueAfterMs === undefined ? "nothing" : "look-again");
}

function writtenStatus({ actions }: Decision<Action>): CodingTaskStatus {
  const [action] = actions;
  if (!action || !("status" in action)) throw new Error("no status is written");
  return action.status;
}

function pause(more: { readonly until?: string } = {}): Pause {
  const targetResource = "git:gitlab.example.com/42@topic";
  return { name: "pause-1", spec: { scope: "Target", targetResource, reason: "upgrade", requestedBy: "kim", ...more } };
}

interface Making {
  readonly type: "Review" | "Command";
  readonly note: number;
  readonly verb: "do" | "status";
  readonly phase: CodingTaskStatus["phase"];
  readonly steps: NonNullable<CodingTaskStatus["steps"]>;
  readonly attempts: number;
  readonly nextAttemptInMs: number;
  readonly endedAgoMs: number;
  readonly createdAgoMs: number;
  readonly cancel: boolean;
  /** The step that records an end whose report is not posted yet. */
  readonly reported: "failed" | "cancelled";
}

function task(making: Partial<Making>): CodingTask {
  const { type = "Command", note = 1, verb = "do", cancel = false, createdAgoMs = 0 } = making;
  const mergeRequest = { iid: 7, headSha: "a".repeat(40), sourceBranch: "topic", targetBranch: "main" };
  const common = {
    project: { host: "gitlab.example.com", id: 42, path: "group/app" },
    claimKey: `${type}:${note}`,
    source: "webhook",
    receivedTime: iso(nowMs),
    mergeRequest,
  } as const;
  const body = "/copilot fix it";
  const reading =
    type === "Review"
      ? draftTask({ ...common, type }, "ns")
      : draftTask({ ...common, type, note: { id: note, authorId: 5, body, verb, instruction: "fix it" } }, "ns");
  if (reading.kind === "problem") throw new Error(reading.problem);
  const metadata = {
    ...reading.task.metadata,
    uid: `uid-${note}`,
    creationTimestamp: iso(nowMs - createdAgoMs),
    ...(cancel ? { annotations: { [annotationKeys.cancelRequested]: "requested by @me" } } : {}),
  };
  return { ...reading.task, metadata, status: statusOf(making) };
}

function statusOf(making: Partial<Making>): CodingTaskStatus {
  const acknowledged = [{ name: "acknowledge", completedAt: iso(nowMs) }];
  const { phase = "Pending", attempts = 0, nextAttemptInMs, endedAgoMs = 0 } = making;
  const started = attempts > 0 ? [{ name: "started", completedAt: iso(nowMs) }] : [];
  const ended = making.reported === undefined ? [] : [{ name: making.reported, completedAt: iso(nowMs) }];
  const { steps = [...acknowledged, ...started, ...ended] } = making;
  const startTime = iso(nowMs);
  const completionTime = iso(nowMs - endedAgoMs);
  const next = nextAttemptInMs === undefined ? {} : { nextAttemptTime: iso(nowMs + nextAttemptInMs) };
  const failure = { reason: "Timeout", message: "it took too long" };
  return { phase, startTime, completionTime, failure, ...next, steps, attempts } as unknown as CodingTaskStatus;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
