import type { Clock } from "./clock.ts";

/** The machine's own clock. */
export function systemClock(): Clock {
  return {
    now: () => performance.now(),
    wallMs: () => Date.now(),
    after(delayMs, wake) {
      const timeout = setTimeout(wake, Math.max(0, delayMs));
      return { cancel: () => clearTimeout(timeout) };
    },
  };
}
