import type { Metrics } from "../../telemetry/index.ts";
import type { Lag, ShipperObserver } from "./shipper.ts";

/** How much waits in the journal, looked up at each reading of the metrics. */
export interface Backlog {
  readonly lag: Lag;
  readonly journalBytes: number;
}

/** Counts shipped rows, and shows the backlog. Declares the metrics, so it is called once. */
export function observeShipping(metrics: Metrics, backlog: () => Backlog | undefined): ShipperObserver {
  const shipped = metrics.counter("ledger_shipped_events_total", "Events shipped from the journal to the database.");
  const failures = metrics.counter("ledger_ship_failures_total", "Failed attempts to ship events to the database.");
  metrics.gauge(
    "ledger_database_lag_events",
    "Events in the journal that the database does not have yet.",
    () => backlog()?.lag.events ?? 0,
  );
  metrics.gauge(
    "ledger_database_lag_seconds",
    "Age of the oldest event that the database does not have yet.",
    () => backlog()?.lag.seconds ?? 0,
  );
  metrics.gauge(
    "ledger_journal_bytes",
    "Bytes of the journal on disk; at ledger.maxJournalBytes events are rejected.",
    () => backlog()?.journalBytes ?? 0,
  );
  return { shipped: (rows) => shipped.inc(rows), failed: () => failures.inc() };
}
