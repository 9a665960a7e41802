import type { Clock } from "../../time/index.ts";

/** Limits the signals of each sender to a rate, with bursts of up to ten seconds' worth. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #perSecond: number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
  }

  /** Takes `signals` from the sender's budget. If it is too small, takes nothing and returns the wait in seconds. */
  take(sender: string, signals: number): { readonly waitSeconds: number } | undefined {
    const now = this.#clock.now();
    const most = 10 * this.#perSecond;
    const bucket = this.#buckets.get(sender) ?? { left: most, at: now };
    bucket.left = Math.min(most, bucket.left + ((now - bucket.at) / 1_000) * this.#perSecond);
    bucket.at = now;
    this.#buckets.set(sender, bucket);
    // A batch that is larger than the bucket may go when the bucket is full; otherwise it never could.
    const needed = Math.min(signals, most);
    if (bucket.left >= needed) {
      bucket.left -= needed;
      return undefined;
    }
    return { waitSeconds: Math.max(1, Math.ceil((needed - bucket.left) / this.#perSecond)) };
  }
}
