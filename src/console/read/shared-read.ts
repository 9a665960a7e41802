import type { Clock } from "../../time/index.ts";

interface Reading<T> {
  readonly result: Promise<T>;
  /** Infinite until the result is there. */
  freshUntil: number;
}

/** How long a result is reused, as a multiple of the time that it took. */
const reuseFactor = 10;
const minReuseMs = 5_000;

/**
 * A slow read that is shared by all callers: one at a time, and its result for ten times as long as it took. However often they ask,
 * it is under way for a small part of the time.
 */
export class SharedRead<T> {
  #latest: Reading<T> | undefined;

  get(clock: Clock, read: () => Promise<T>): Promise<T> {
    const startedAt = clock.now();
    if (this.#latest && startedAt < this.#latest.freshUntil) return this.#latest.result;
    const latest: Reading<T> = { result: read(), freshUntil: Number.POSITIVE_INFINITY };
    this.#latest = latest;
    const reuseFor = (minMs: number) => {
      const now = clock.now();
      latest.freshUntil = now + Math.max(minMs, reuseFactor * (now - startedAt));
    };
    latest.result.then(
      () => reuseFor(minReuseMs),
      () => reuseFor(0),
    );
    return latest.result;
  }
}
