import { type Clock, systemClock } from "../../src/time/index.ts";

/** A clock that runs `factor` times as fast as the machine's, so that a test of seconds takes milliseconds. */
export function hurriedClock(factor: number): Clock {
  const clock = systemClock();
  return {
    now: () => clock.now() * factor,
    wallMs: () => clock.wallMs(),
    after: (delayMs, wake, options) => clock.after(delayMs / factor, wake, options),
  };
}
