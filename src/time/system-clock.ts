import type { Clock, Timer } from "./clock.ts";

/** Node's timers take no longer delay; more than that would fire at once. */
const longestDelayMs = 2 ** 31 - 1;

/** The machine's own clock. */
export function systemClock(): Clock {
  return {
    now: () => performance.now(),
    wallMs: () => Date.now(),
    after: (delayMs, wake, { background = false } = {}) => new SystemTimer(delayMs, wake, background),
  };
}

class SystemTimer implements Timer {
  #timeout: NodeJS.Timeout;

  #background: boolean;

  constructor(delayMs: number, wake: () => void, background: boolean) {
    this.#background = background;
    this.#timeout = this.#start(Math.max(0, delayMs), wake);
  }

  cancel(): void {
    clearTimeout(this.#timeout);
  }

  setBackground(yes: boolean): void {
    this.#background = yes;
    if (yes) this.#timeout.unref();
    else this.#timeout.ref();
  }

  #start(delayMs: number, wake: () => void): NodeJS.Timeout {
    const again = () => {
      this.#timeout = this.#start(delayMs - longestDelayMs, wake);
    };
    const isLast = delayMs <= longestDelayMs;
    const timeout = setTimeout(isLast ? wake : again, Math.min(delayMs, longestDelayMs));
    return this.#background ? timeout.unref() : timeout;
  }
}
