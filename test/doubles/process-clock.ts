import type { Clock, Timer } from "../../src/time/index.ts";

/** The clock of one process among several: it can be stopped for a while or for ever, and its wall clock can be wrong. */
export class ProcessClock implements Clock {
  readonly #base: Clock;
  readonly #skewMs: number;
  #running = true;
  #crashed = false;
  #missed: (() => void)[] = [];

  constructor(base: Clock, { skewMs = 0 }: { readonly skewMs?: number } = {}) {
    this.#base = base;
    this.#skewMs = skewMs;
  }

  now(): number {
    return this.#base.now();
  }

  wallMs(): number {
    return this.#base.wallMs() + this.#skewMs;
  }

  after(delayMs: number, wake: () => void): Timer {
    let cancelled = false;
    const timer = this.#base.after(delayMs, () => {
      const due = () => cancelled || wake();
      if (this.#running) due();
      else if (!this.#crashed) this.#missed.push(due);
    });
    return {
      cancel: () => {
        cancelled = true;
        timer.cancel();
      },
      setBackground: (yes) => timer.setBackground(yes),
    };
  }

  get crashed(): boolean {
    return this.#crashed;
  }

  /** SIGSTOP: time goes on, the process does not. */
  pause(): void {
    this.#running = false;
  }

  /** SIGCONT: all that was due meanwhile happens now. */
  resume(): void {
    this.#running = true;
    const missed = this.#missed;
    this.#missed = [];
    for (const wake of missed) wake();
  }

  /** SIGKILL. */
  crash(): void {
    this.#running = false;
    this.#crashed = true;
    this.#missed = [];
  }
}
