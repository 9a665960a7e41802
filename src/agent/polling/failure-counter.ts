import type { Logger } from "../../telemetry/index.ts";

/** How often an item may fail before it is abandoned. */
const maxTries = 3;

/**
 * Counts how often an item cannot become a task, so a permanently failing item does not block the rest. Errors that
 * concern all items are not counted.
 */
export class FailureCounter {
  readonly #tries = new Map<string, number>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Counts a failure. Returns whether the item is abandoned from now on. */
  recordFailure(id: string, problem: string): boolean {
    const tries = (this.#tries.get(id) ?? 0) + 1;
    this.#tries.set(id, tries);
    if (tries === maxTries) this.#log.error("poll item abandoned", { item: id, tries, problem });
    return tries >= maxTries;
  }

  isAbandoned(id: string): boolean {
    return (this.#tries.get(id) ?? 0) >= maxTries;
  }
}
