import { eventText } from "../event-text.ts";
import { type Ledger, LedgerError, type LedgerEvent } from "../ledger.ts";

/** A ledger that forgets everything when the process ends. For tests and trials. */
export interface MemoryLedger extends Ledger {
  /** Every event once, in the order of its first append. */
  events(): readonly LedgerEvent[];
}

export function memoryLedger(): MemoryLedger {
  const events = new Map<string, LedgerEvent>();
  let closed = false;
  return {
    async append(event) {
      // Through its text, as on a disk: a later change of the caller's object must not change the record.
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
