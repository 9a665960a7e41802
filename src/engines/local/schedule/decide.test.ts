import { describe, expect, it } from "vitest";
import type { PipelineTask } from "../pipeline/spec.ts";
import { decide } from "./decide.ts";
import type { Attempt, RunSnapshot, StepEnd } from "./run-snapshot.ts";

const start = 1_000_000;

describe("what to do next", () => {
  it.each<[string, Partial<RunSnapshot>, readonly string[], string]>([
    ["begins what waits for nothing", {}, ["start a.0.0", "start c.0.0"], "running"],
    ["waits while steps run", { attempts: attempts({ a: [running()], c: [running()] }) }, [], "running"],
    [
      "begins the next task, and the next step",
      { attempts: attempts({ a: [done()], c: [firstOfTwo()] }) },
      ["start b.0.0", "start c.0.1"],
      "running",
    ],
    [
      "begins finally when all tasks are done",
      { attempts: attempts({ a: [done()], b: [done()], c: [done(), 2] }) },
      ["start z.0.0"],
      "running",
    ],
    ["ends", { attempts: attempts({ a: [done()], b: [done()], c: [done(), 2], z: [done()] }) }, [], "finished"],
    [
      "begins nothing after a failure, and waits for what runs",
      { attempts: attempts({ a: [failed()], c: [running()] }) },
      [],
      "running",
    ],
    [
      "lets a task go on after the failure of another",
      { attempts: attempts({ a: [failed()], c: [firstOfTwo()] }) },
      ["start c.0.1"],
      "running",
    ],
    [
      "runs finally after a failure",
      { attempts: attempts({ a: [failed()], c: [done(), 2] }) },
      ["start z.0.0"],
      "running",
    ],
    [
      "tries again what may be tried again",
      { attempts: attempts({ b: [failed()], a: [done()], c: [done(), 2] }) },
      ["start b.1.0"],
      "running",
    ],
    [
      "but not more often than that",
      { attempts: attempts({ b: [failed(), failed()], a: [done()], c: [done(), 2] }) },
      ["start z.0.0"],
      "running",
    ],
    [
      "never tries again what was lost",
      { attempts: attempts({ b: [ended("lost")], a: [done()], c: [done(), 2] }) },
      ["start z.0.0"],
      "running",
    ],
    [
      "stops everything when cancelled",
      { asked: "Cancelled", attempts: attempts({ a: [running()], c: [done(), 2] }) },
      ["stop a.0 cancelled"],
      "running",
    ],
    ["stops once", { asked: "Cancelled", attempts: attempts({ a: [stopped("cancelled", running())] }) }, [], "running"],
    [
      "has been cancelled",
      { asked: "Cancelled", attempts: attempts({ a: [stopped("cancelled", ended("killed"))] }) },
      [],
      "cancelled",
    ],
    ["is cancelled before it began", { asked: "Cancelled" }, [], "cancelled"],
    [
      "is not cancelled any more when all is done",
      { asked: "Cancelled", attempts: attempts({ a: [done()], b: [done()], c: [done(), 2], z: [done()] }) },
      [],
      "finished",
    ],
    [
      "runs finally when cancelled with finally",
      { asked: "CancelledRunFinally", attempts: attempts({ a: [stopped("cancelled", ended("killed"))] }) },
      ["start z.0.0"],
      "running",
    ],
    [
      "does not stop finally then",
      { asked: "CancelledRunFinally", attempts: attempts({ a: [stopped("cancelled", ended("killed"))], z: [running()] }) },
      [],
      "running",
    ],
    [
      "lets tasks end when stopped with finally",
      { asked: "StoppedRunFinally", attempts: attempts({ a: [running()] }) },
      [],
      "running",
    ],
    [
      "and then runs finally",
      { asked: "StoppedRunFinally", attempts: attempts({ a: [done()] }) },
      ["start z.0.0"],
      "running",
    ],
    [
      "and then was cancelled",
      { asked: "StoppedRunFinally", attempts: attempts({ a: [done()], z: [done()] }) },
      [],
      "cancelled",
    ],
    [
      "goes on until the last moment",
      { now: start + 59_999, attempts: attempts({ a: [running()], c: [running()] }) },
      [],
      "running",
    ],
    [
      "stops everything when its time is up",
      { now: start + 60_000, attempts: attempts({ a: [running()], c: [running()] }) },
      ["stop a.0 run-timeout", "stop c.0 run-timeout"],
      "running",
    ],
    [
      "has run out of time",
      { now: start + 60_000, attempts: attempts({ a: [stopped("run-timeout", ended("killed"))] }) },
      [],
      "timed-out",
    ],
    [
      "keeps time for finally",
      {
        now: start + 40_000,
        timeouts: { pipelineMs: 60_000, finallyMs: 20_000 },
        attempts: attempts({ a: [running()], c: [done(), 2] }),
      },
      ["stop a.0 run-timeout"],
      "running",
    ],
    [
      "has no limit if that is 0",
      { now: start + 10 ** 9, timeouts: { pipelineMs: 0 }, attempts: attempts({ a: [running()], c: [running()] }) },
      [],
      "running",
    ],
    [
      "stops a task whose own time is up",
      { now: start + 5_000, attempts: attempts({ a: [done()], b: [running()], c: [done(), 2] }) },
      ["stop b.0 timeout"],
      "running",
    ],
    [
      "and tries it again",
      {
        now: start + 5_001,
        attempts: attempts({ a: [done()], b: [stopped("timeout", ended("killed"))], c: [done(), 2] }),
      },
      ["start b.1.0"],
      "running",
    ],
    [
      "does not begin the next step of a task that is stopping",
      { asked: "Cancelled", attempts: attempts({ c: [stopped("cancelled", firstOfTwo())] }) },
      [],
      "cancelled",
    ],
  ])("%s", (_what, special, actions, run) => {
    const decision = decide({ ...usual, ...special });

    expect(decision.actions.map(text).sort()).toEqual([...actions].sort());
    expect(decision.run.kind).toBe(run);
  });

  it("looks again when the nearest time is up", () => {
    const attempts = attempts({ a: [done()], b: [running()], c: [running()] });

    expect(decide({ ...usual, attempts }).wakeAt).toBe(start + 5_000);
    expect(decide({ ...usual, attempts, now: start + 5_000 }).wakeAt).toBe(start + 60_000);
  });

  it("is the same for the same world", () => {
    const seen = { ...usual, attempts: attempts({ a: [done()], c: [running()] }) };

    expect(decide(seen)).toEqual(decide(seen));
  });
});

/** a before b (retries 1, 5 s), c beside them with two steps, z in finally. */
const usual: RunSnapshot = {
  run: { name: "run", namespace: "ns", uid: "uid" },
  pipeline: {
    tasks: [
      task("b", { runAfter: ["a"], retries: 1, timeout: "5s" }),
      task("a"),
      task("c", { taskSpec: { steps: [{ script: "1" }, { script: "2" }] } }),
    ].sort((one, other) => one.name.localeCompare(other.name)),
    finally: [task("z")],
  },
  params: {},
  startedAt: start,
  timeouts: { pipelineMs: 60_000 },
  attempts: new Map(),
  now: start + 10,
};

function task(name: string, special: Partial<PipelineTask> = {}): PipelineTask {
  return { name, taskSpec: { steps: [{ script: "1" }] }, ...special };
}

type Sketch = readonly [...Attempt[]] | readonly [Attempt, number];

/** Attempts by task; a number behind an attempt is how many steps of it are done. */
function attempts(sketch: Readonly<Record<string, Sketch>>): Map<string, readonly Attempt[]> {
  return new Map(
    Object.entries(sketch).map(([name, [first, second, ...more]]) => {
      if (typeof second !== "number") return [name, [first, second, ...more].filter((one) => typeof one === "object")];
      return [name, [{ ...first, steps: Array.from({ length: second }, () => first?.steps[0]) } as Attempt]];
    }),
  );
}

function attempt(end?: StepEnd): Attempt {
  return { startedAt: start, steps: [{ startedAt: start, ...(end && { end }) }], results: {} };
}

function running(): Attempt {
  return attempt();
}

function ended(how: StepEnd["how"], exitCode = 137): Attempt {
  return attempt({ how, exitCode, finishedAt: start + 5 });
}

function done(): Attempt {
  return ended("exited", 0);
}

function failed(): Attempt {
  return ended("exited", 1);
}

/** The first of two steps is done. */
function firstOfTwo(): Attempt {
  return done();
}

function stopped(why: NonNullable<Attempt["stop"]>["why"], seen: Attempt): Attempt {
  return { ...seen, stop: { why, at: start + 5 } };
}

function text(action: ReturnType<typeof decide>["actions"][number]): string {
  if (action.do === "stop") return `stop ${action.task}.${action.attempt} ${action.why}`;
  return `start ${action.task}.${action.attempt}.${action.step}`;
}
