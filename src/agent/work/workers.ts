import type { CodingTask } from "../../resources/index.ts";
import { type Interruption, interrupt } from "./interruption.ts";
import { selectNext } from "./select-next.ts";

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
