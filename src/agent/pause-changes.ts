import type { Informer, KeySource } from "../kube/index.ts";
import { isLasting } from "../policy/index.ts";
import type { AutomationPause } from "../resources/index.ts";
import type { Clock, Timer } from "../time/index.ts";

interface PauseChangesOptions {
  readonly clock: Clock;
  /** The API server's clock, which the ends of pauses refer to. */
  readonly nowMs: () => number;
  /** The keys whose decision may change, in the order in which they are reconciled. */
  readonly keys: () => readonly string[];
}

/**
 * Adds all `keys` whenever a pause begins or ends, by an operator or by its time: one timer for all keeps them in
 * order.
 */
export function pauseChanges(
  pauses: Informer<AutomationPause>,
  { clock, nowMs, keys }: PauseChangesOptions,
): KeySource {
  return {
    synced: pauses.synced,
    feed(add) {
      let timer: Timer | undefined;
      const addKeys = () => {
        for (const key of keys()) add(key);
      };
      const plan = () => {
        timer?.cancel();
        const lasting = pauses.list().filter((pause) => isLasting(pause, nowMs()));
        const ends = lasting.flatMap(({ spec }) => (spec.until === undefined ? [] : [Date.parse(spec.until)]));
        if (ends.length === 0) return;
        // The clock may be adjusted meanwhile: a key that is added too early is added again in time.
        const delayMs = Math.max(1, Math.min(...ends) - nowMs());
        timer = clock.after(delayMs, () => [addKeys(), plan()], { background: true });
      };
      const unsubscribe = pauses.subscribe((_event, pause, previous) => {
        if ([pause, previous].some((one) => one && isLasting(one, nowMs()))) addKeys();
        plan();
      });
      return () => {
        unsubscribe();
        timer?.cancel();
      };
    },
  };
}
