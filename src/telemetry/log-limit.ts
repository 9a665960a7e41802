import type { Clock } from "../time/index.ts";

/** Bounds the rate of log events about conditions that last: each is logged when it begins, and then at intervals. */
export class LogLimit {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #conditions = new Map<string, { readonly loggedAt: number; suppressed: number }>();

  constructor(clock: Clock, intervalMs = 60_000) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  /** Returns the number of events suppressed since the last one that was logged, or undefined if this one is suppressed, too. */
  take(condition: string): number | undefined {
    const now = this.#clock.now();
    const known = this.#conditions.get(condition);
    if (known && now - known.loggedAt < this.#intervalMs) {
      known.suppressed++;
      return undefined;
    }
    // The oldest condition is first, because each is put at the end when it is logged.
    this.#conditions.delete(condition);
    const [oldest] = this.#conditions.keys();
    if (oldest !== undefined && this.#conditions.size >= maxConditions) this.#conditions.delete(oldest);
    this.#conditions.set(condition, { loggedAt: now, suppressed: 0 });
    return known?.suppressed ?? 0;
  }
}

/** Bounds the memory. A condition that is forgotten is logged once more. */
const maxConditions = 1_000;
