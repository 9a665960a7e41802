import { describe, expect, it } from "vitest";
import type { Pause } from "../policy/index.ts";
import { annotationKeys, type CodingTask, type CodingTaskStatus } from "../resources/index.ts";
import { draftTask } from "../tasks/index.ts";
import { decide } from "./decide.ts";

const nowMs = Date.parse("2026-11-15T12:00:00.000Z");
const day = 24 * 3_600_000;

describe("a coding task", () => {
  it.each<[string, Partial<Making>, string]>([
    ["a review is worked on at once", { type: "Review" }, "work"],
    ["a comment is marked as seen first", { steps: [] }, "acknowledge"],
    ["a comment that was marked is worked on", {}, "work"],
    ["one that runs is looked after: whoever ran it may be dead", { phase: "Running" }, "work"],
    ["one that waits for its next try waits", { phase: "Waiting", nextAttemptInMs: 30_000 }, "look-again"],
    ["at the time of its next try it is tried", { phase: "Waiting", nextAttemptInMs: 0 }, "work"],
    ["one that is cancelled before it began ends", { cancel: true }, "settle"],
    [
      "one that is cancelled while it runs is for whoever runs it",
      { phase: "Running", attempts: 1, cancel: true },
      "work",
    ],
    [
      "one that is cancelled between two tries is ended at once",
      { phase: "Waiting", attempts: 1, nextAttemptInMs: 9, cancel: true },
      "work",
    ],
    ["one that ended is remembered", { phase: "Completed", endedAgoMs: day - 1 }, "look-again"],
    ["one that ended long ago is removed", { phase: "Completed", endedAgoMs: day }, "remove"],
  ])("%s", (_what, making, expected) => {
    expect(decision(task(making)).do).toBe(expected);
  });

  it.each<[string, Partial<Making>, Partial<Making>, string]>([
    ["waits for one that came first", { note: 2 }, { note: 1 }, "wait"],
    ["does not wait for one that came later", { note: 1 }, { note: 2 }, "work"],
    ["waits for a later one that runs already", { note: 1 }, { note: 2, phase: "Running" }, "wait"],
    [
      "is not held up by one that waits for its next try",
      { note: 2 },
      { note: 1, phase: "Waiting", nextAttemptInMs: 9 },
      "work",
    ],
    ["is not held up by one that ended", { note: 2 }, { note: 1, phase: "Failed" }, "work"],
    ["goes on if it is running itself", { note: 2, phase: "Running" }, { note: 1 }, "work"],
    [
      "waits by the second of creation before anything else",
      { note: 1, createdAgoMs: 0 },
      { note: 2, createdAgoMs: 1_000 },
      "wait",
    ],
    ["asks nobody if it writes nothing", { note: 2, verb: "status" }, { note: 1, phase: "Running" }, "work"],
  ])("%s", (_what, making, other, expected) => {
    expect(decision(task(making), [task(other)]).do).toBe(expected);
  });

  it.each<[string, Partial<Making>, string]>([
    ["is not begun", {}, "pause"],
    ["is not reviewed", { type: "Review" }, "pause"],
    ["is marked as seen all the same", { steps: [] }, "acknowledge"],
    ["is answered if it asks for no more", { verb: "status" }, "work"],
    ["goes on if it was begun", { phase: "Running", attempts: 1 }, "work"],
    ["goes on if it was handed over", { phase: "Waiting", attempts: 1 }, "work"],
    ["is not tried again", { phase: "Waiting", attempts: 1, nextAttemptInMs: 0 }, "pause"],
    ["can be cancelled", { cancel: true }, "settle"],
    ["is forgotten when it is time", { phase: "Completed", endedAgoMs: day }, "remove"],
  ])("on a branch that is paused %s", (_what, making, expected) => {
    expect(decision(task(making), [], [pause()]).do).toBe(expected);
  });

  it("says by which pause it is held up, and keeps its steps and tries", () => {
    const waiting = task({ phase: "Waiting", attempts: 1, nextAttemptInMs: 30_000 });

    const { status } = decision(waiting, [], [pause({ until: iso(nowMs + day) })]) as { status: CodingTaskStatus };

    expect(status).toEqual({
      phase: "Waiting",
      pause: { name: "pause-1", requestedBy: "kim", reason: "upgrade", until: iso(nowMs + day) },
      message: `paused: pause-1 by kim (upgrade); clears at ${iso(nowMs + day)}`,
      nextAttemptTime: iso(nowMs + 30_000),
      attempts: 1,
      steps: waiting.status?.steps,
    });
  });

  it("goes on though one that came first is held up by a pause", () => {
    const begun = task({ note: 2, phase: "Waiting", attempts: 1 });

    expect(decision(begun, [task({ note: 1 })], [pause()]).do).toBe("work");
  });

  it("is worked on in order when the pause is over, and says no longer that it is paused", () => {
    const [first, second] = [task({ note: 1 }), task({ note: 2 })].map((one) => {
      return { ...one, status: (decision(one, [], [pause()]) as { status: CodingTaskStatus }).status };
    }) as [CodingTask, CodingTask];

    expect(decision(first, [second]).do).toBe("work");
    expect(decision(second, [first])).toMatchObject({ do: "wait", status: { position: 1 } });
    expect(decision(second, [first])).not.toHaveProperty("status.pause");
  });

  it("that failed before it was paused still waits for its next try, and says so", () => {
    const failed = task({ phase: "Waiting", attempts: 1, nextAttemptInMs: 30_000 });
    const paused = { ...failed, status: (decision(failed, [], [pause()]) as { status: CodingTaskStatus }).status };

    const { status } = decision(paused) as { status: CodingTaskStatus };

    expect(status).toMatchObject({ phase: "Waiting", nextAttemptTime: iso(nowMs + 30_000) });
    expect(status).not.toHaveProperty("pause");
    expect(decision({ ...paused, status }).do).toBe("look-again");
  });

  it("says how many come first, and who is next to end", () => {
    const line = [task({ note: 1, phase: "Running" }), task({ note: 2 }), task({ note: 4 })];

    const { status } = decision(task({ note: 3 }), line) as { status: CodingTaskStatus };

    expect(status).toMatchObject({ phase: "Waiting", position: 2, holder: { identity: "comment 1 on group/app!7" } });
  });

  it("keeps its steps and tries while it waits", () => {
    const waiting = task({ note: 3, attempts: 2 });

    const { status } = decision(waiting, [task({ note: 1 })]) as { status: CodingTaskStatus };

    expect(status).toMatchObject({ attempts: 2, steps: waiting.status?.steps });
  });
});

function decision(one: CodingTask, line: readonly CodingTask[] = [], pauses: readonly Pause[] = []) {
  return decide({ task: one, line, pauses, nowMs, keepFinishedMs: day });
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
    ...(cancel ? { annotations: { [annotationKeys.cancelRequested]: "asked for by @me" } } : {}),
  };
  return { ...reading.task, metadata, status: statusOf(making) };
}

function statusOf(making: Partial<Making>): CodingTaskStatus {
  const acknowledged = [{ name: "acknowledge", completedAt: iso(nowMs) }];
  const { phase = "Pending", attempts = 0, nextAttemptInMs, endedAgoMs = 0 } = making;
  const started = attempts > 0 ? [{ name: "started", completedAt: iso(nowMs) }] : [];
  const { steps = [...acknowledged, ...started] } = making;
  const startTime = iso(nowMs);
  const completionTime = iso(nowMs - endedAgoMs);
  const next = nextAttemptInMs === undefined ? {} : { nextAttemptTime: iso(nowMs + nextAttemptInMs) };
  const failure = { reason: "Timeout", message: "it took too long" };
  return { phase, startTime, completionTime, failure, ...next, steps, attempts } as unknown as CodingTaskStatus;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
