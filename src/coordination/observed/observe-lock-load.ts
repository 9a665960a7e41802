import type { Locks } from "../locks/locks.ts";
import type { Observer } from "./observer.ts";

/** Shows how many locks a stage holds and waits for, looked up whenever the metrics are read. */
export function observeLockLoad(locks: Pick<Locks, "load">, { stage, metrics }: Pick<Observer, "stage" | "metrics">) {
  metrics.gauge({
    name: `${stage}_locks_held`,
    help: "Locks that this process holds now.",
    collect: (gauge) => gauge.set(locks.load().held),
  });
  metrics.gauge({
    name: `${stage}_locks_waiting`,
    help: "Callers in this process that wait for a lock now.",
    collect: (gauge) => gauge.set(locks.load().waiting),
  });
  metrics.gauge({
    name: `${stage}_lock_oldest_wait_seconds`,
    help: "How long the caller that waits the longest has waited, 0 if none does.",
    collect: (gauge) => gauge.set(locks.load().oldestWaitMs / 1_000),
  });
}
