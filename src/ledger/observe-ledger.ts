import type { Counter, Metrics } from "../telemetry/index.ts";
import { type LedgerEventType, ledgerEventTypes } from "./event-types/index.ts";
import { type LedgerErrorCode, ledgerErrorCodes } from "./ledger.ts";

/** Callbacks for the operations of a ledger. */
export interface LedgerObserver {
  /** An event is durable, `durationMs` after its append. */
  kept(type: LedgerEventType, durationMs: number): void;
  refused(code: LedgerErrorCode): void;
  wrote(bytes: number): void;
}

/** Counts appended events. Declares the metrics, so call it once, even if the ledger is opened again. */
export function observeLedger(metrics: Metrics): LedgerObserver {
  const events = metrics.counter("ledger_events_total", "Events written durably.", { type: ledgerEventTypes });
  const failures = metrics.counter(
    "ledger_append_failures_total",
    "Events whose append failed or has an unknown outcome.",
    { reason: ledgerErrorCodes },
  );
  const duration = metrics.histogram(
    "ledger_append_duration_seconds",
    "Time from the append of an event until it is durable.",
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
  );
  const bytes = metrics.counter("ledger_written_bytes_total", "Bytes written to the journal.");
  const eventsOf = new Map<LedgerEventType, Counter>(ledgerEventTypes.map((type) => [type, events.with({ type })]));

  return {
    kept(type, durationMs) {
      eventsOf.get(type)?.inc();
      duration.observe(durationMs / 1_000);
    },
    refused: (code) => failures.with({ reason: code }).inc(),
    wrote: (count) => bytes.inc(count),
  };
}

/** Does nothing. */
export const unobserved: LedgerObserver = { kept() {}, refused() {}, wrote() {} };
