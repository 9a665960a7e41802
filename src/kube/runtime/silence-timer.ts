import type { Clock, Timer } from "../../time/index.ts";

/** Calls `expired` once, when `reset` was not called for `limitMs`. `reset` only stores the time, so it may be frequent. */
export class SilenceTimer {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #expired: () => void;
  #resetAt: number;
  #timer: Timer;

  constructor(clock: Clock, limitMs: number, expired: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#expired = expired;
    this.#resetAt = clock.now();
    this.#timer = clock.after(limitMs, () => this.#check());
  }

  reset(): void {
    this.#resetAt = this.#clock.now();
  }

  stop(): void {
    this.#timer.cancel();
  }

  #check() {
    const leftMs = this.#resetAt + this.#limitMs - this.#clock.now();
    if (leftMs <= 0) return this.#expired();
    this.#timer = this.#clock.after(leftMs, () => this.#check());
  }
}
