import type { Logger } from "../../telemetry/index.ts";

/** How often something is tried that fails by itself, before it is left alone. */
const maxTries = 3;

/**
 * Counts how often a thing could not be made a task for reasons of its own, so that one that never can holds up nobody
 * for long. Whatever fails for everybody is not its fault, and not counted here.
 */
export class Patience {
  readonly #tries = new Map<string, number>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Notes that it failed once more. True: it is given up from now on. */
  failed(id: string, problem: string): boolean {
    const tries = (this.#tries.get(id) ?? 0) + 1;
    this.#tries.set(id, tries);
    if (tries === maxTries) this.#log.error("item given up", { item: id, tries, problem });
    return tries >= maxTries;
  }

  hasGivenUp(id: string): boolean {
    return (this.#tries.get(id) ?? 0) >= maxTries;
  }
}
