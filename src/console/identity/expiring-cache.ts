import type { Clock } from "../../time/index.ts";

const maxEntries = 1_000;

/** Values that are asked for again after some time. A failed answer is not kept. */
export class ExpiringCache<T> {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #entries = new Map<string, { readonly value: Promise<T>; readonly until: number }>();

  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  has(key: string): boolean {
    return (this.#entries.get(key)?.until ?? 0) > this.#clock.now();
  }

  /** The value for a key; callers that ask at the same time share one question. */
  async get(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    if (known && known.until > this.#clock.now()) return known.value;
    this.#entries.delete(key);
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined && this.#entries.size >= maxEntries) this.#entries.delete(oldest);
    const entry = { value: ask(), until: this.#clock.now() + this.#keepMs };
    this.#entries.set(key, entry);
    try {
      return await entry.value;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }
}
