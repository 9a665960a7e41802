import type { CodingTask } from "../../resources/index.ts";
import { byCreation } from "../queue.ts";

export interface WorkersOptions {
  /** The maximum number of running tasks. */
  readonly size: number;
  /** Works on a task until it is done or `interrupted` aborts. Must not throw. */
  readonly work: (task: CodingTask, interrupted: AbortSignal) => Promise<void>;
  /** Called when an attempt has ended; the task may be offered again. */
  readonly onEnd: (task: CodingTask) => void;
}

/**
 * The work on a task, with the version of the task that was offered. `ready`: it waits for a free worker. `interrupted`: its
 * attempt has to stop, and has not ended yet.
 */
export type Work =
  | { readonly state: "none" }
  | { readonly state: "ready" | "running" | "interrupted"; readonly task: CodingTask };

interface Running {
  readonly task: CodingTask;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Runs a bounded number of tasks, fairly between projects. Each task runs at most once at a time. */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #ready = new Map<string, CodingTask>();
  readonly #running = new Map<string, Running>();
  #isStopped = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  workOn(offered: CodingTask): Work {
    const uid = uidOf(offered);
    const running = this.#running.get(uid);
    if (running) return { state: running.controller.signal.aborted ? "interrupted" : "running", task: running.task };
    const task = this.#ready.get(uid);
    return task ? { state: "ready", task } : { state: "none" };
  }

  /** Queues the task for a free worker. */
  offer(task: CodingTask): void {
    const uid = uidOf(task);
    if (this.#isStopped || this.#running.has(uid)) return;
    this.#ready.set(uid, task);
    this.#begin();
  }

  /** Removes the task from the ready ones. */
  withdraw(task: CodingTask): void {
    this.#ready.delete(uidOf(task));
  }

  interrupt(task: CodingTask, why: Interruption): void {
    const work = this.#running.get(uidOf(task));
    if (work) interrupt(work.controller, why);
  }

  /** Starts nothing new, interrupts all running tasks and waits for them. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#ready.clear();
    const all = [...this.#running.values()];
    for (const { controller } of all) interrupt(controller, { kind: "stopping" });
    await Promise.all(all.map(({ done }) => done));
  }

  #begin() {
    while (this.#running.size < this.#options.size) {
      const running = [...this.#running.values()].map(({ task }) => task);
      const task = selectNext([...this.#ready.values()], running);
      if (!task) return;
      this.#ready.delete(uidOf(task));
      this.#run(task);
    }
  }

  #run(task: CodingTask) {
    const uid = uidOf(task);
    const controller = new AbortController();
    const done = this.#options.work(task, controller.signal).finally(() => {
      this.#running.delete(uid);
      this.#options.onEnd(task);
      this.#begin();
    });
    this.#running.set(uid, { task, controller, done });
  }
}

function uidOf({ metadata }: CodingTask): string {
  return metadata.uid ?? "";
}

/**
 * Returns the task to start next: of the project with the fewest running tasks, the one that came first. So a project
 * with many tasks does not delay the others.
 */
export function selectNext(ready: readonly CodingTask[], running: readonly CodingTask[]): CodingTask | undefined {
  const load = (task: CodingTask) => running.filter((other) => projectKey(other) === projectKey(task)).length;
  return [...ready].sort((a, b) => load(a) - load(b) || byCreation(a, b))[0];
}

function projectKey({ spec }: CodingTask): string {
  return `${spec.project.host}/${spec.project.id}`;
}

/** Why an attempt has to stop. */
export type Interruption =
  | { readonly kind: "stopping" }
  | { readonly kind: "cancelled"; readonly by: string }
  | { readonly kind: "superseded"; readonly by: string };

class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly why: Interruption;

  constructor(why: Interruption) {
    super(`interrupted: ${why.kind}`);
    this.why = why;
  }
}

/** Aborts an attempt with the reason. The first reason counts. */
function interrupt(controller: AbortController, why: Interruption): void {
  controller.abort(new Interrupted(why));
}

export function toInterruption({ reason }: AbortSignal): Interruption {
  return reason instanceof Interrupted ? reason.why : { kind: "stopping" };
}
