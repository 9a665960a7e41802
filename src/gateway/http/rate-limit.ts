import type { Clock } from "../../time/index.ts";

/** Limits each sender to a rate of signals, with bursts of what ten seconds allow. */
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
    const max = 10 * this.#perSecond;
    const bucket = this.#buckets.get(sender) ?? { left: max, at: now };
    bucket.left = Math.min(max, bucket.left + ((now - bucket.at) / 1_000) * this.#perSecond);
    bucket.at = now;
    this.#buckets.set(sender, bucket);
    // A batch that is larger than the bucket is accepted when the bucket is full; otherwise it would never be.
    const needed = Math.min(signals, max);
    if (bucket.left >= needed) {
      bucket.left -= needed;
      return undefined;
    }
    return { waitSeconds: Math.max(1, Math.ceil((needed - bucket.left) / this.#perSecond)) };
  }
}
