import { describe, expect, it } from "vitest";
import type { PipelineTask } from "../pipeline/spec.ts";
import { decide } from "./decide.ts";
import type { Attempt, RunSnapshot, StepEnd } from "./run-snapshot.ts";

const start = 1_000_000;

describe("the next actions of a run", () => {
  it.each<[string, Partial<RunSnapshot>, readonly string[], string]>([
    ["start the tasks without parents", {}, ["start a.0.0", "start c.0.0"], "running"],
    ["are none while steps run", { attempts: attemptsBy({ a: [running()], c: [running()] }) }, [], "running"],
    [
      "start the next task and the next step",
      { attempts: attemptsBy({ a: [done()], c: [firstOfTwo()] }) },
      ["start b.0.0", "start c.0.1"],
      "running",
    ],
    [
      "start finally when all tasks are done",
      { attempts: attemptsBy({ a: [done()], b: [done()], c: [done(), 2] }) },
      ["start z.0.0"],
      "running",
    ],
    [
      "are none when all tasks and finally are done",
      { attempts: attemptsBy({ a: [done()], b: [done()], c: [done(), 2], z: [done()] }) },
      [],
      "finished",
    ],
    [
      "start nothing after a failure, while another task runs",
      { attempts: attemptsBy({ a: [failed()], c: [running()] }) },
      [],
      "running",
    ],
    [
      "continue a running task after the failure of another",
      { attempts: attemptsBy({ a: [failed()], c: [firstOfTwo()] }) },
      ["start c.0.1"],
      "running",
    ],
    [
      "start finally after a failure",
      { attempts: attemptsBy({ a: [failed()], c: [done(), 2] }) },
      ["start z.0.0"],
      "running",
    ],
    [
      "retry a failed task that has retries left",
      { attempts: attemptsBy({ b: [failed()], a: [done()], c: [done(), 2] }) },
      ["start b.1.0"],
      "running",
    ],
    [
      "do not retry a task without retries left",
      { attempts: attemptsBy({ b: [failed(), failed()], a: [done()], c: [done(), 2] }) },
      ["start z.0.0"],
      "running",
    ],
    [
      "never retry a lost step",
      { attempts: attemptsBy({ b: [ended("lost")], a: [done()], c: [done(), 2] }) },
      ["start z.0.0"],
      "running",
    ],
    [
      "stop every attempt of a cancelled run",
      { asked: "Cancelled", attempts: attemptsBy({ a: [running()], c: [done(), 2] }) },
      ["stop a.0 cancelled"],
      "running",
    ],
    [
      "stop an attempt only once",
      { asked: "Cancelled", attempts: attemptsBy({ a: [stopped("cancelled", running())] }) },
      [],
      "running",
    ],
    [
      "are none when a cancelled run has stopped",
      { asked: "Cancelled", attempts: attemptsBy({ a: [stopped("cancelled", ended("killed"))] }) },
      [],
      "cancelled",
    ],
    ["are none when the run is cancelled before its first step", { asked: "Cancelled" }, [], "cancelled"],
    [
      "leave a run finished that is cancelled when everything is done",
      { asked: "Cancelled", attempts: attemptsBy({ a: [done()], b: [done()], c: [done(), 2], z: [done()] }) },
      [],
      "finished",
    ],
    [
      "start finally after CancelledRunFinally",
      { asked: "CancelledRunFinally", attempts: attemptsBy({ a: [stopped("cancelled", ended("killed"))] }) },
      ["start z.0.0"],
      "running",
    ],
    [
      "do not stop finally after CancelledRunFinally",
      {
        asked: "CancelledRunFinally",
        attempts: attemptsBy({ a: [stopped("cancelled", ended("killed"))], z: [running()] }),
      },
      [],
      "running",
    ],
    [
      "let running tasks end after StoppedRunFinally",
      { asked: "StoppedRunFinally", attempts: attemptsBy({ a: [running()] }) },
      [],
      "running",
    ],
    [
      "start finally after StoppedRunFinally when the tasks have ended",
      { asked: "StoppedRunFinally", attempts: attemptsBy({ a: [done()] }) },
      ["start z.0.0"],
      "running",
    ],
    [
      "are none after StoppedRunFinally when finally is done",
      { asked: "StoppedRunFinally", attempts: attemptsBy({ a: [done()], z: [done()] }) },
      [],
      "cancelled",
    ],
    [
      "stop nothing one millisecond before the timeout of the run",
      { now: start + 59_999, attempts: attemptsBy({ a: [running()], c: [running()] }) },
      [],
      "running",
    ],
    [
      "stop every attempt at the timeout of the run",
      { now: start + 60_000, attempts: attemptsBy({ a: [running()], c: [running()] }) },
      ["stop a.0 run-timeout", "stop c.0 run-timeout"],
      "running",
    ],
    [
      "are none when a run that timed out has stopped",
      { now: start + 60_000, attempts: attemptsBy({ a: [stopped("run-timeout", ended("killed"))] }) },
      [],
      "timed-out",
    ],
    [
      "stop the tasks early enough for finally",
      {
        now: start + 40_000,
        timeouts: { pipelineMs: 60_000, finallyMs: 20_000 },
        attempts: attemptsBy({ a: [running()], c: [done(), 2] }),
      },
      ["stop a.0 run-timeout"],
      "running",
    ],
    [
      "stop nothing if the timeout is 0",
      { now: start + 10 ** 9, timeouts: { pipelineMs: 0 }, attempts: attemptsBy({ a: [running()], c: [running()] }) },
      [],
      "running",
    ],
    [
      "stop a task at its own timeout",
      { now: start + 5_000, attempts: attemptsBy({ a: [done()], b: [running()], c: [done(), 2] }) },
      ["stop b.0 timeout"],
      "running",
    ],
    [
      "retry a task after its own timeout",
      {
        now: start + 5_001,
        attempts: attemptsBy({ a: [done()], b: [stopped("timeout", ended("killed"))], c: [done(), 2] }),
      },
      ["start b.1.0"],
      "running",
    ],
    [
      "do not start the next step of a task that is being stopped",
      { asked: "Cancelled", attempts: attemptsBy({ c: [stopped("cancelled", firstOfTwo())] }) },
      [],
      "cancelled",
    ],
  ])("%s", (_what, special, actions, run) => {
    const decision = decide({ ...usual, ...special });

    expect(decision.actions.map(text).sort()).toEqual([...actions].sort());
    expect(decision.run.kind).toBe(run);
  });

  it("are decided again at the nearest deadline", () => {
    const attempts = attemptsBy({ a: [done()], b: [running()], c: [running()] });

    expect(decide({ ...usual, attempts }).wakeAt).toBe(start + 5_000);
    expect(decide({ ...usual, attempts, now: start + 5_000 }).wakeAt).toBe(start + 60_000);
  });

  it("are the same for the same snapshot", () => {
    const seen = { ...usual, attempts: attemptsBy({ a: [done()], c: [running()] }) };

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
function attemptsBy(sketch: Readonly<Record<string, Sketch>>): Map<string, readonly Attempt[]> {
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
