import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../time/index.ts";
import { readStepRecord, readTime } from "../runner/run-folder.ts";
import type { StepEnd } from "../schedule/run-snapshot.ts";
import type { Launch, Processes } from "./processes.ts";

export interface Supervision {
  /** Called only if the step has to be started. */
  readonly launch: () => Promise<Launch>;
  readonly folder: string;
  readonly processes: Processes;
  readonly clock: Clock;
  /** Stops the step when it aborts. */
  readonly stop: AbortSignal;
  /** Leaves the step to the next supervisor when it aborts: rejects with its reason. */
  readonly abandon: AbortSignal;
  /** The time between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** Called if a process of the step survives SIGKILL. */
  readonly stubborn: () => void;
  /** Called if the step was already running. */
  readonly adopted: () => void;
}

/**
 * Starts a step, or adopts one that an earlier runner started, and returns when all of its processes have ended.
 *
 *     alive                        ──▶ adopt it and wait
 *     not alive, exit              ──▶ it has ended
 *     not alive, started, no exit  ──▶ killed by the runner, or lost
 *     not alive, not started       ──▶ start it: no process of it ever ran
 */
export async function supervise(supervision: Supervision): Promise<StepEnd> {
  const { folder, processes, stop } = supervision;
  let problem: string | undefined;
  if (await processes.isAlive(folder)) {
    supervision.adopted();
    await untilGone(supervision, undefined);
  } else if ((await readTime(join(folder, "started"))) === undefined) {
    if (stop.aborted) return { how: "not-started", exitCode: 1, finishedAt: supervision.clock.wallMs() };
    const wrapper = processes.start(await supervision.launch(), supervision.abandon);
    problem = await untilGone(supervision, wrapper);
  }
  return await readStepEnd(supervision, problem);
}

async function readStepEnd({ folder, clock, stop }: Supervision, problem: string | undefined): Promise<StepEnd> {
  const exitedAt = await readTime(join(folder, "exit"));
  if (exitedAt !== undefined) {
    const exitCode = Number.parseInt(await readFile(join(folder, "exit"), "utf8"), 10);
    return { how: "exited", exitCode, finishedAt: exitedAt };
  }
  const finishedAt = clock.wallMs();
  const { startedAt } = await readStepRecord(folder);
  if (startedAt === undefined) {
    return { how: "not-started", exitCode: 1, finishedAt, ...(problem && { message: problem }) };
  }
  if (stop.aborted) return { how: "killed", exitCode: 137, finishedAt };
  const message = "ended without an exit code: it was killed from outside, or the machine failed. It may be half done";
  return { how: "lost", exitCode: 137, finishedAt, message };
}

/** The interval of checks without an event. */
const checkMs = 200;

/** Processes that a step left behind are ended this long after its command has ended. */
const leftoverMs = 300;

/** The number of SIGKILLs after which an error is logged. */
const maxKills = 5;

async function untilGone(supervision: Supervision, wrapper: Promise<string | undefined> | undefined) {
  const { folder, processes, clock, stop, abandon } = supervision;
  const termination = new Termination(supervision);
  const wrapperEnd = new AbortController();
  const noteEnd = () => wrapperEnd.abort();
  if (wrapper === undefined) noteEnd();
  else void wrapper.then(noteEnd, noteEnd);
  let commandEndedAt: number | undefined;
  for (;;) {
    abandon.throwIfAborted();
    if (wrapperEnd.signal.aborted && !(await processes.isAlive(folder))) return await wrapper;
    if (commandEndedAt === undefined && (await readTime(join(folder, "exit"))) !== undefined)
      commandEndedAt = clock.now();
    const hasLeftovers = commandEndedAt !== undefined && clock.now() - commandEndedAt >= leftoverMs;
    if (stop.aborted || hasLeftovers) await termination.proceed();
    await nextCheck(clock, [wrapperEnd.signal, stop, abandon]);
  }
}

/** Sends SIGTERM once and, after the grace period, SIGKILL until all processes have ended. */
class Termination {
  readonly #supervision: Supervision;
  #beganAt: number | undefined;
  #kills = 0;

  constructor(supervision: Supervision) {
    this.#supervision = supervision;
  }

  async proceed(): Promise<void> {
    const { clock, graceMs, processes, folder, stubborn } = this.#supervision;
    if (this.#beganAt === undefined) {
      this.#beganAt = clock.now();
      await processes.signal(folder, "SIGTERM");
    } else if (clock.now() - this.#beganAt >= graceMs) {
      await processes.signal(folder, "SIGKILL");
      this.#kills++;
      if (this.#kills === maxKills) stubborn();
    }
  }
}

/** Waits for the next check, or until a signal aborts. Removes its listeners, because a step may run for days. */
function nextCheck(clock: Clock, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      timer.cancel();
      for (const signal of signals) signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.after(checkMs, done, { background: true });
    for (const signal of signals) signal.addEventListener("abort", done, { once: true });
  });
}

/** Removes the files of the raw output, which may contain secrets. */
export async function removeRawOutput(folder: string): Promise<void> {
  for (const name of ["head", "tail", "rest", "collector", "secrets"]) await rm(join(folder, name), { force: true });
}
