import { type Clock, systemClock, type Timer } from "../../src/time/index.ts";

/** The system's clock, until it is stopped: what is still pending then must not keep the tests alive. */
export class StoppableClock implements Clock {
  readonly #clock = systemClock();
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#clock.now();
  }

  wallMs(): number {
    return this.#clock.wallMs();
  }

  after(...[delayMs, wake, options]: Parameters<Clock["after"]>): Timer {
    const woken = () => {
      this.#timers.delete(timer);
      wake();
    };
    const timer = this.#clock.after(delayMs, woken, options);
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
      setBackground: (yes) => timer.setBackground(yes),
    };
  }

  stop(): void {
    for (const timer of this.#timers) timer.cancel();
  }
}
