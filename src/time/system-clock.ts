import type { Clock, Timer } from "./clock.ts";

/** Node's timers take no longer delay; more than that would fire at once. */
const maxDelayMs = 2 ** 31 - 1;

/** The machine's own clock. */
export function systemClock(): Clock {
  return {
    now: () => performance.now(),
    wallMs: () => Date.now(),
    after: (delayMs, wake, { background = false } = {}) => new SystemTimer(delayMs, wake, background),
  };
}

class SystemTimer implements Timer {
  #timeout: NodeJS.Timeout | NodeJS.Immediate;

  #background: boolean;

  constructor(delayMs: number, wake: () => void, background: boolean) {
    this.#background = background;
    this.#timeout = this.#start(Math.max(0, delayMs), wake);
  }

  cancel(): void {
    if ("refresh" in this.#timeout) clearTimeout(this.#timeout);
    else clearImmediate(this.#timeout);
  }

  setBackground(yes: boolean): void {
    this.#background = yes;
    if (yes) this.#timeout.unref();
    else this.#timeout.ref();
  }

  #start(delayMs: number, wake: () => void): NodeJS.Timeout | NodeJS.Immediate {
    // Without a delay: the next turn of the event loop. The shortest timeout would be a millisecond.
    if (delayMs === 0) return this.#background ? setImmediate(wake).unref() : setImmediate(wake);
    const again = () => {
      this.#timeout = this.#start(delayMs - maxDelayMs, wake);
    };
    const isLast = delayMs <= maxDelayMs;
    const timeout = setTimeout(isLast ? wake : again, Math.min(delayMs, maxDelayMs));
    return this.#background ? timeout.unref() : timeout;
  }
}
