import type { ObjectKey } from "../object-store.ts";

/** Keys to look at, each once however often it is added, one at a time. */
export class WorkList {
  readonly #turn: (key: ObjectKey) => Promise<void>;
  readonly #waiting = new Map<string, ObjectKey>();
  #running = false;
  #stopped = false;

  /** `turn` must not throw. */
  constructor(turn: (key: ObjectKey) => Promise<void>) {
    this.#turn = turn;
  }

  add(key: ObjectKey): void {
    this.#waiting.set(`${key.resource}\u0000${key.namespace}\u0000${key.name}`, key);
    if (this.#running || this.#stopped) return;
    this.#running = true;
    void this.#run();
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
  }

  async #run() {
    // Whoever adds is in the middle of a change: the first turn begins after it.
    await undefined;
    for (const [text, key] of this.#waiting) {
      this.#waiting.delete(text);
      if (!this.#stopped) await this.#turn(key);
    }
    this.#running = false;
  }
}
