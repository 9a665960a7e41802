import { setNewest } from "../../kube/index.ts";
import type { Clock } from "../../time/index.ts";

const maxEntries = 1_000;

/** Keeps values for a fixed time. A failed read is not kept. */
export class ExpiringCache<T> {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #entries = new Map<string, { readonly value: Promise<T>; readonly until: number }>();

  constructor(clock: Clock, ttlMs: number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  has(key: string): boolean {
    return (this.#entries.get(key)?.until ?? 0) > this.#clock.now();
  }

  /** The value of a key; concurrent callers share one read. */
  async get(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    if (known && known.until > this.#clock.now()) return known.value;
    const entry = { value: read(), until: this.#clock.now() + this.#ttlMs };
    setNewest(this.#entries, [key, entry], maxEntries);
    try {
      return await entry.value;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }
}
