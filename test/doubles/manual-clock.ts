import type { Clock, Timer } from "../../src/time/index.ts";

/** A clock that moves on request. Timers due together fire in the order they were set. */
export class ManualClock implements Clock {
  #nowMs = 1_000;
  readonly #startMs: number;
  #timers: { at: number; wake: () => void; background: boolean }[] = [];

  /** It starts a second after `startMs`. */
  constructor(startMs = 1_700_000_000_000) {
    this.#startMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#startMs + this.#nowMs;
  }

  after(delayMs: number, wake: () => void): Timer {
    const timer = { at: this.#nowMs + Math.max(0, delayMs), wake, background: false };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
      setBackground: (yes) => {
        timer.background = yes;
      },
    };
  }

  /** Those that were not sent to the background since they were set. */
  get pendingTimers(): number {
    return this.#timers.filter(({ background }) => !background).length;
  }

  /** Moves time forward, waking timers on the way and letting promises settle after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#nowMs + ms;
    await settle();
    for (let timer = this.#nextBefore(end); timer; timer = this.#nextBefore(end)) {
      this.#timers = this.#timers.filter((other) => other !== timer);
      this.#nowMs = Math.max(this.#nowMs, timer.at);
      timer.wake();
      await settle();
    }
    this.#nowMs = end;
  }

  /** Moves time without firing timers, as for a process that was stopped and continues. */
  jump(ms: number): void {
    this.#nowMs += ms;
  }

  #nextBefore(end: number) {
    let next: { at: number; wake: () => void } | undefined;
    for (const timer of this.#timers) if (timer.at <= end && (!next || timer.at < next.at)) next = timer;
    return next;
  }
}

/** Lets every promise that can settle do so. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
