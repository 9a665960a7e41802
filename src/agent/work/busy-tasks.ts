import type { CodingTask } from "../../resources/index.ts";
import type { Clock } from "../../time/index.ts";

/**
 * Another replica works on the task. If that replica dies, its lock expires, and this replica notices after this delay.
 */
export const busyMs = 5_000;

/** The tasks that another replica is assumed to work on, for a while and by the local clock. */
export class BusyTasks {
  readonly #clock: Clock;
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add({ metadata }: CodingTask): void {
    this.#until.set(metadata.uid ?? "", this.#clock.now() + busyMs);
  }

  remove({ metadata }: CodingTask): void {
    this.#until.delete(metadata.uid ?? "");
  }

  /** How long the task is still assumed to be busy; 0 if it is not. */
  remainingMs(task: CodingTask): number {
    const remainingMs = (this.#until.get(task.metadata.uid ?? "") ?? 0) - this.#clock.now();
    if (remainingMs > 0) return remainingMs;
    this.remove(task);
    return 0;
  }
}
