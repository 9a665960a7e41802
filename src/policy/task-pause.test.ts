import { describe, expect, it } from "vitest";
import {
  type AutomationPauseSpec,
  builtInKinds,
  type CodingTask,
  type CodingTaskStatus,
  type CodingVerb,
} from "../resources/index.ts";
import { draftTask } from "../tasks/index.ts";
import { lastingPauses } from "./pauses.ts";
import { pauseOver, taskPause } from "./task-pause.ts";

const now = Date.parse("2026-11-15T02:00:00.000Z");

describe("a coding task that has not started", () => {
  it.each<[string, Scope, boolean]>([
    ["everything", { scope: "All" }, true],
    ["its namespace", { scope: "Namespace", targetNamespace: "kubernaut-system" }, true],
    ["another namespace", { scope: "Namespace", targetNamespace: "payment" }, false],
    ["its branch", target("git:gitlab.example/7@topic"), true],
    ["its branch, spelled otherwise", target("git:https://GitLab.example:8443/7@refs/heads/topic"), true],
    ["another branch", target("git:gitlab.example/7@topic-2"), false],
    ["the branch it goes to", target("git:gitlab.example/7@main"), false],
    ["its repository", target("git:gitlab.example/7"), true],
    ["its repository, spelled otherwise", target("git:ssh://git@gitlab.example/7.git"), true],
    ["another repository", target("git:gitlab.example/70"), false],
    ["a repository with that number elsewhere", target("git:gitlab.other/7"), false],
    ["a workflow", { scope: "Workflow", workflowId: "topic" }, false],
    ["a Kubernetes object", target("node/worker-1"), false],
  ])("and a pause of %s", (_what, scope, waits) => {
    expect(waitsFor(task(), scope)).toBe(waits);
  });

  it.each<[string, Scope]>([
    ["where it was asked for", target("git:gitlab.example/7")],
    ["its branch is in", target("git:gitlab.example/99")],
  ])("waits for a pause of the repository %s, if its branch is in a fork", (_what, scope) => {
    expect(waitsFor(task({ fork: 99 }), scope)).toBe(true);
    expect(waitsFor(task({ fork: 99 }), target("git:gitlab.example/9"))).toBe(false);
  });
});

describe("a pause of everything", () => {
  const started = { name: "started", completedAt: iso(now) };
  const answered = { name: "agent", completedAt: iso(now) };
  const gaveUp = { name: "failed", completedAt: iso(now) };
  const retry = { phase: "Waiting", nextAttemptTime: iso(now + 9), attempts: 1 } as const;

  it.each<[string, CodingTaskStatus | undefined, "waits" | "goes on"]>([
    ["that is new", undefined, "waits"],
    ["that was accepted", { phase: "Pending" }, "waits"],
    ["that waits in line", { phase: "Waiting", position: 1 }, "waits"],
    ["that runs, or whose process died", { phase: "Running", startTime: iso(now), steps: [started] }, "goes on"],
    ["that was handed over", { phase: "Waiting", steps: [started] }, "goes on"],
    ["that waits for another try", { ...retry, steps: [started] }, "waits"],
    ["whose agent has answered, and that waits for another try", { ...retry, steps: [started, answered] }, "goes on"],
    ["that failed and was not reported yet", { ...retry, steps: [started, gaveUp] }, "goes on"],
  ])("%s", (_what, status, expected) => {
    expect(waitsFor(task({ status }), { scope: "All" })).toBe(expected === "waits");
  });

  it.each<CodingVerb>(["help", "status", "cancel", "review", "retry"])("that only answers %s: nothing", (verb) => {
    expect(waitsFor(task({ verb }), { scope: "All" })).toBe(false);
    expect(pauseOver(task({ verb }), pauses({ scope: "All" }), now)).toBeDefined();
  });
});

describe("several pauses of a coding task", () => {
  it("name the last to end first, and the next step", () => {
    const some = [
      ...pauses({ scope: "All", until: iso(now + 1_000) }, "short"),
      ...pauses({ scope: "All", until: iso(now + 9_000) }, "long"),
    ];

    expect(taskPause(task(), some, now)).toMatchObject({
      evidence: "paused: long by kim (upgrade at night); short by kim (upgrade at night)",
      clears: `at ${iso(now + 9_000)}`,
      clearsAtMs: now + 9_000,
      nextStep: 'wait, or end it: interlock resume long --reason "…"',
    });
    expect(taskPause(task(), some, now + 9_000)).toBeUndefined();
  });

  it("have no known end if one of them has none", () => {
    const some = [...pauses({ scope: "All", until: iso(now + 1_000) }, "short"), ...pauses({ scope: "All" }, "open")];

    const paused = taskPause(task(), some, now);

    expect(paused).toMatchObject({ clears: "when the last pause that covers it ends" });
    expect(paused).not.toHaveProperty("clearsAtMs");
    expect(paused?.pauses.map(({ name }) => name)).toEqual(["open", "short"]);
  });
});

type Scope = WithoutWhy<AutomationPauseSpec>;
type WithoutWhy<S> = S extends unknown ? Omit<S, "reason" | "requestedBy"> : never;

function target(targetResource: string): Scope {
  return { scope: "Target", targetResource };
}

function waitsFor(one: CodingTask, scope: Scope): boolean {
  return taskPause(one, pauses(scope), now) !== undefined;
}

function pauses(scope: Scope, name = "pause-1") {
  const spec = { ...scope, reason: "upgrade\nat night", requestedBy: "kim" } as AutomationPauseSpec;
  return lastingPauses([{ metadata: { name }, spec }], now, builtInKinds);
}

interface Making {
  readonly verb?: CodingVerb;
  readonly fork?: number;
  readonly status?: CodingTaskStatus | undefined;
}

function task({ verb = "do", fork, status }: Making = {}): CodingTask {
  const reading = draftTask(
    {
      type: "Command",
      project: { host: "gitlab.example", id: 7, path: "group/app" },
      claimKey: "note:1",
      source: "webhook",
      receivedTime: iso(now),
      mergeRequest: {
        ...{ iid: 3, headSha: "a".repeat(40), sourceBranch: "topic", targetBranch: "main" },
        ...(fork === undefined ? {} : { sourceProjectId: fork }),
      },
      note: { id: 1, authorId: 5, body: "/copilot fix it", verb, instruction: "fix it" },
    },
    "kubernaut-system",
  );
  if (reading.kind === "problem") throw new Error(reading.problem);
  return status === undefined ? reading.task : { ...reading.task, status };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
