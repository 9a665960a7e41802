import type { Informer, KeySource } from "../kube/index.ts";
import { isLasting } from "../policy/index.ts";
import type { AutomationPause } from "../resources/index.ts";
import type { Clock, Timer } from "../time/index.ts";

interface PauseChangesOptions {
  readonly clock: Clock;
  /** By the API server's clock, which the ends of pauses are meant by. */
  readonly nowMs: () => number;
  /** What may be decided otherwise, in the order in which it is to be looked at. */
  readonly keys: () => readonly string[];
}

/** All `keys` whenever a pause begins or ends, by a person's hand or by its time: one timer for all, so that they stay in order. */
export function pauseChanges(
  pauses: Informer<AutomationPause>,
  { clock, nowMs, keys }: PauseChangesOptions,
): KeySource {
  return {
    synced: pauses.synced,
    feed(add) {
      let timer: Timer | undefined;
      const tell = () => {
        for (const key of keys()) add(key);
      };
      const plan = () => {
        timer?.cancel();
        const lasting = pauses.list().filter((pause) => isLasting(pause, nowMs()));
        const ends = lasting.flatMap(({ spec }) => (spec.until === undefined ? [] : [Date.parse(spec.until)]));
        if (ends.length === 0) return;
        // Clocks may be set meanwhile: what is told too early is looked at once more when it is time.
        const delayMs = Math.min(longestMs, Math.max(1, Math.min(...ends) - nowMs()));
        timer = clock.after(delayMs, () => [tell(), plan()], { background: true });
      };
      const unsubscribe = pauses.subscribe((_event, pause, previous) => {
        if ([pause, previous].some((one) => one && isLasting(one, nowMs()))) tell();
        plan();
      });
      return () => {
        unsubscribe();
        timer?.cancel();
      };
    },
  };
}

/** A timer that waits for longer than 24 days fires at once. */
const longestMs = 24 * 3_600_000;
