import type { Clock, Timer } from "../../time/index.ts";

/** Calls `tooLong` once, when nothing was received for `limitMs`. Receiving moves no timer, so it may be frequent. */
export class Silence {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #tooLong: () => void;
  #lastHeardAt: number;
  #timer: Timer;

  constructor(clock: Clock, limitMs: number, tooLong: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#tooLong = tooLong;
    this.#lastHeardAt = clock.now();
    this.#timer = clock.after(limitMs, () => this.#look());
  }

  heard(): void {
    this.#lastHeardAt = this.#clock.now();
  }

  end(): void {
    this.#timer.cancel();
  }

  #look() {
    const leftMs = this.#lastHeardAt + this.#limitMs - this.#clock.now();
    if (leftMs <= 0) return this.#tooLong();
    this.#timer = this.#clock.after(leftMs, () => this.#look());
  }
}
