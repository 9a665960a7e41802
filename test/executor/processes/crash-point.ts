import type { Engine, WorkflowExecution } from "../../../src/resources/index.ts";
import type { Mishap } from "./executor-process.ts";
import type { Stage } from "./stage.ts";
import type { Deed } from "./step-witness.ts";
import { until } from "./until.ts";

/** What happens to one execution from outside, and what must be true of it in the end. */
export interface Story {
  readonly name: string;
  readonly does: Deed;
  /** Resolves when everything has happened, as soon as some executor lives long enough. Can be called again. */
  play(stage: Stage, execution: WorkflowExecution, signal: AbortSignal): Promise<void>;
  /** One sentence for each thing that is wrong. */
  problems(stage: Stage, execution: WorkflowExecution): Promise<readonly string[]>;
}

export const stories: readonly Story[] = [
  {
    name: "succeeds",
    does: "succeed",
    play: untilFreed,
    async problems(stage, { metadata: { name = "", uid = "" } }) {
      const { status } = (await stage.execution(name)) ?? {};
      return [
        ...differs("phase", status?.phase, "Completed"),
        ...differs("what the step reported", reportedSteps(stage, uid), "start end"),
        ...differs("runs left", (await stage.runsOf(uid)).length, 0),
        ...(await wrongTrail(stage, uid, [...beginning, "execution.completed", "target.freed"])),
      ];
    },
  },
  {
    name: "fails",
    does: "fail",
    play: untilFreed,
    async problems(stage, { metadata: { name = "", uid = "" } }) {
      const { status } = (await stage.execution(name)) ?? {};
      const why = status?.phase === "Failed" ? status.failureDetails : undefined;
      return [
        ...differs("phase", status?.phase, "Failed"),
        ...differs("reason", `${why?.reason} ${why?.exitCode} ${why?.wasExecutionFailure}`, "TaskRunFailed 3 true"),
        ...differs("what the step reported", reportedSteps(stage, uid), "start end"),
        ...(await wrongTrail(stage, uid, [...beginning, "execution.failed", "target.freed"])),
      ];
    },
  },
  {
    name: "is deleted while it runs",
    does: "hang",
    play: deleteOnceStarted,
    async problems(stage, { metadata: { uid = "" } }) {
      const alive = stage.witness.of(uid).filter(({ pid }) => isAlive(pid));
      const end = ["run.cancelled", "execution.failed", "target.freed", "execution.deleted"];
      return [
        ...differs("what the step reported", reportedSteps(stage, uid), "start"),
        ...differs("steps alive", alive.length, 0),
        ...differs("runs left", (await stage.runsOf(uid)).length, 0),
        ...(await wrongTrail(stage, uid, [...beginning, ...end])),
      ];
    },
  },
];

const beginning = ["execution.admitted", "run.created", "execution.started"];

export interface CrashPoint {
  readonly engine: Engine;
  readonly story: Story;
  readonly mishap: Mishap;
}

/** Plays a story with an executor that has a mishap, and with another that has none. `happened`: it came as far as that write. */
export async function playCrashPoint(stage: Stage, { engine, story, mishap }: CrashPoint) {
  const name = `${story.does}-${engine}-${mishap.at.replace("+", "-after")}-${mishap.kind.replace(" ", "-")}`;
  const target = `node/${name}`;
  const execution = await stage.create(name, { engine, target, does: story.does });
  const play = mishap.kind === "dies" ? playDeath : playPause;
  const happened = await play(stage, { story, execution, mishap });

  const holder = (await stage.record(target))?.status?.holder;
  const problems = [
    ...differs("holder", holder?.executionName, undefined),
    ...(await story.problems(stage, execution)),
  ];
  return { happened, problems: problems.map((problem) => `${describePoint({ engine, story, mishap })}: ${problem}`) };
}

export function describePoint({ engine, story, mishap }: CrashPoint): string {
  return `an execution on ${engine} that ${story.name}, whose executor ${mishap.kind} at write ${mishap.at}`;
}

interface CrashCase {
  readonly story: Story;
  readonly execution: WorkflowExecution;
  readonly mishap: Mishap;
}

async function playDeath(stage: Stage, { story, execution, mishap }: CrashCase): Promise<boolean> {
  const mortal = stage.executor(mishap);
  const ended = new AbortController();
  void mortal.ended.then(() => ended.abort(new Error("the executor is dead")));
  await story.play(stage, execution, ended.signal).catch((error) => {
    if (!ended.signal.aborted) throw error;
  });
  if ((await mortal.stop()) !== "SIGKILL") return false;

  const next = stage.executor();
  await story.play(stage, execution, AbortSignal.timeout(40_000));
  await next.stop();
  return true;
}

/** Another executor does everything while the first one is paused; then the first goes on where it was. */
async function playPause(stage: Stage, { story, execution, mishap }: CrashCase): Promise<boolean> {
  const sleepy = stage.executor(mishap);
  const over = new AbortController();
  const played = story.play(stage, execution, over.signal).then(() => "played" as const);
  const paused = until("the executor is paused", () => sleepy.isPaused, { signal: over.signal }).then(() => "paused");
  const first = await Promise.race([played, paused]);
  over.abort(new Error("one of the two is enough"));
  await Promise.allSettled([played, paused]);
  if (first === "played") {
    // Its last writes are those that it does on its way out.
    sleepy.resume();
    await sleepy.stop();
    return false;
  }
  const next = stage.executor();
  await story.play(stage, execution, AbortSignal.timeout(40_000));
  sleepy.resume();
  await sleepy.stop();
  await story.play(stage, execution, AbortSignal.timeout(40_000));
  await next.stop();
  return true;
}

/** Freed, and its run removed if it succeeded: the cooldown is short. */
async function untilFreed(stage: Stage, { metadata }: WorkflowExecution, signal: AbortSignal): Promise<void> {
  const { name = "", uid = "" } = metadata;
  await until(
    `${name} has ended and its target is free`,
    async () => {
      const { status } = (await stage.execution(name)) ?? {};
      if (!status?.conditions?.some(({ type }) => type === "TargetFreed")) return false;
      return status.phase === "Failed" || (await stage.runsOf(uid)).length === 0;
    },
    { signal },
  );
}

async function deleteOnceStarted(stage: Stage, { metadata }: WorkflowExecution, signal: AbortSignal): Promise<void> {
  const { name = "", uid = "" } = metadata;
  const isGone = async () => (await stage.execution(name)) === undefined;
  await until(`${name} runs`, async () => stage.witness.of(uid).length > 0 || (await isGone()), { signal });
  await stage.delete(name);
  await until(`${name} is gone`, isGone, { signal });
}

function reportedSteps(stage: Stage, uid: string): string {
  return stage.witness
    .of(uid)
    .map(({ reported }) => reported)
    .join(" ");
}

async function wrongTrail(stage: Stage, uid: string, wanted: readonly string[]): Promise<readonly string[]> {
  const types = ((await stage.ledger()).get(uid) ?? []).map(({ type }) => type);
  return differs("events in the ledger", types.sort().join(" "), [...wanted].sort().join(" "));
}

function differs(what: string, found: unknown, wanted: unknown): readonly string[] {
  return found === wanted ? [] : [`${what}: ${found}, not ${wanted}`];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
