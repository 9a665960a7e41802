import type { Clock, Timer } from "./clock.ts";

/** Node's timers take no longer delay; more than that would fire at once. */
const longestDelayMs = 2 ** 31 - 1;

/** The machine's own clock. */
export function systemClock(): Clock {
  return {
    now: () => performance.now(),
    wallMs: () => Date.now(),
    after: (delayMs, wake) => new SystemTimer(delayMs, wake),
  };
}

class SystemTimer implements Timer {
  #timeout: NodeJS.Timeout;

  constructor(delayMs: number, wake: () => void) {
    this.#timeout = this.#start(Math.max(0, delayMs), wake);
  }

  cancel(): void {
    clearTimeout(this.#timeout);
  }

  #start(delayMs: number, wake: () => void): NodeJS.Timeout {
    if (delayMs <= longestDelayMs) return setTimeout(wake, delayMs);
    return setTimeout(() => {
      this.#timeout = this.#start(delayMs - longestDelayMs, wake);
    }, longestDelayMs);
  }
}
