import { eventText } from "../event-text.ts";
import { type Ledger, LedgerError, type LedgerEvent } from "../ledger.ts";

/** A ledger that forgets everything when the process ends. For tests and trials. */
export interface MemoryLedger extends Ledger {
  /** Every event once, in the order in which they were first told. */
  events(): readonly LedgerEvent[];
}

export function memoryLedger(): MemoryLedger {
  const events = new Map<string, LedgerEvent>();
  let closed = false;
  return {
    async append(event) {
      // By way of its text: what is kept does not change when the caller changes the event, as on a disk.
      const kept = JSON.parse(`{${eventText(event)}}`) as LedgerEvent;
      if (closed) throw new LedgerError("closed", "the ledger is closed");
      if (!events.has(event.id)) events.set(event.id, kept);
    },
    events: () => [...events.values()],
    async close() {
      closed = true;
    },
  };
}
