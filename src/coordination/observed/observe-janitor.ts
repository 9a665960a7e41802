import type { JanitorEvents } from "../kubernetes/lease-sweep.ts";
import type { Observer } from "./observer.ts";

/** Counts and logs the removals of a stage's janitor: `startJanitor({ …, events: observeJanitor(observer) })`. */
export function observeJanitor({ stage, metrics, log }: Pick<Observer, "stage" | "metrics" | "log">): JanitorEvents {
  const removals = metrics.counter(
    `${stage}_leases_removed_total`,
    "Unused Leases removed: of locks without holder or waiter, and of expired claims.",
    { kind: ["lock", "claim"] },
  );
  const failures = metrics.counter(
    `${stage}_lease_sweep_failures_total`,
    "Failed removals of idle Leases. Each is retried a few minutes later.",
  );
  return {
    swept({ locks, claims }) {
      removals.with({ kind: "lock" }).inc(locks);
      removals.with({ kind: "claim" }).inc(claims);
      if (locks + claims > 0) log.info("idle leases removed", { locks, claims });
    },
    failed(error) {
      failures.inc();
      log.warn("removal of idle leases failed", { error });
    },
  };
}
