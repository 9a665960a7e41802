import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../time/index.ts";
import { readTime, stepRecord } from "../runner/run-folder.ts";
import type { StepEnd } from "../schedule/world.ts";
import type { Launch, Processes } from "./processes.ts";

export interface Supervision {
  /** Asked for only if the step has to be started. */
  readonly launch: () => Promise<Launch>;
  readonly folder: string;
  readonly processes: Processes;
  readonly clock: Clock;
  /** Ends the step when it aborts. */
  readonly stop: AbortSignal;
  /** Leaves the step to the next supervisor when it aborts: rejects with its reason. */
  readonly abandon: AbortSignal;
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** The step survives SIGKILL, or what it left behind does. */
  readonly stubborn: () => void;
  /** The step was alive already. */
  readonly adopted: () => void;
}

/**
 * Starts a step, or takes over one that was started before, and returns when every process of it is gone.
 *
 *     alive             ──▶ take over and wait
 *     not alive, exit   ──▶ it has ended
 *     not alive, started, no exit  ──▶ killed by us, or lost
 *     not alive, not started       ──▶ start it: nothing of it ever ran
 */
export async function supervise(supervision: Supervision): Promise<StepEnd> {
  const { folder, processes, stop } = supervision;
  let complaint: string | undefined;
  if (await processes.isAlive(folder)) {
    supervision.adopted();
    await untilGone(supervision, undefined);
  } else if ((await readTime(join(folder, "started"))) === undefined) {
    if (stop.aborted) return { how: "not-started", exitCode: 1, finishedAt: supervision.clock.wallMs() };
    const wrapper = processes.start(await supervision.launch(), supervision.abandon);
    complaint = await untilGone(supervision, wrapper);
  }
  return await readStepEnd(supervision, complaint);
}

async function readStepEnd({ folder, clock, stop }: Supervision, complaint: string | undefined): Promise<StepEnd> {
  const exitedAt = await readTime(join(folder, "exit"));
  if (exitedAt !== undefined) {
    const exitCode = Number.parseInt(await readFile(join(folder, "exit"), "utf8"), 10);
    return { how: "exited", exitCode, finishedAt: exitedAt };
  }
  const finishedAt = clock.wallMs();
  const { startedAt } = await stepRecord(folder);
  if (startedAt === undefined) {
    return { how: "not-started", exitCode: 1, finishedAt, ...(complaint && { message: complaint }) };
  }
  if (stop.aborted) return { how: "killed", exitCode: 137, finishedAt };
  const message = "ended without an exit code: it was killed from outside, or the machine failed. It may be half done";
  return { how: "lost", exitCode: 137, finishedAt, message };
}

/** Between one look and the next, without an event. */
const lookMs = 200;

/** A step whose command has ended has this long until what it left behind is ended. */
const leftoverMs = 300;

/** After that many attempts with SIGKILL, an operator is notified. */
const stubbornAfter = 5;

async function untilGone(supervision: Supervision, wrapper: Promise<string | undefined> | undefined) {
  const { folder, processes, clock, stop, abandon } = supervision;
  const eviction = new Eviction(supervision);
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
    if (stop.aborted || hasLeftovers) await eviction.goOn();
    await nextLook(clock, [wrapperEnd.signal, stop, abandon]);
  }
}

/** SIGTERM once, and after the grace SIGKILL until it helps. */
class Eviction {
  readonly #supervision: Supervision;
  #beganAt: number | undefined;
  #kills = 0;

  constructor(supervision: Supervision) {
    this.#supervision = supervision;
  }

  async goOn(): Promise<void> {
    const { clock, graceMs, processes, folder, stubborn } = this.#supervision;
    if (this.#beganAt === undefined) {
      this.#beganAt = clock.now();
      await processes.signal(folder, "SIGTERM");
    } else if (clock.now() - this.#beganAt >= graceMs) {
      await processes.signal(folder, "SIGKILL");
      this.#kills++;
      if (this.#kills === stubbornAfter) stubborn();
    }
  }
}

/** Waits a moment, or until a signal aborts. Leaves no listener behind: a step may run for days. */
function nextLook(clock: Clock, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      timer.cancel();
      for (const signal of signals) signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.after(lookMs, done, { background: true });
    for (const signal of signals) signal.addEventListener("abort", done, { once: true });
  });
}

/** Files of the step that are not needed once its output is kept: they may hold secrets. */
export async function removeRawOutput(folder: string): Promise<void> {
  for (const name of ["head", "tail", "rest", "collector", "secrets"]) await rm(join(folder, name), { force: true });
}
