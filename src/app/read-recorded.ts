import { type EventFilter, LedgerError, type LedgerEvent } from "../ledger/index.ts";
import { hasLedger, type LedgerPlace, openLedgerDatabase, patienceMs } from "./ledger.ts";

/** The events of the ledger, oldest first. Undefined if it cannot be read: `why` explains a part without it. */
export async function readRecorded(
  subject: EventFilter,
  place: LedgerPlace,
): Promise<readonly LedgerEvent[] | undefined> {
  if (!(await hasLedger(place))) return undefined;
  const database = openLedgerDatabase(place, { waitMs: patienceMs });
  try {
    const events: LedgerEvent[] = [];
    for await (const event of database.events(subject)) events.push(event);
    return events;
  } catch (error) {
    if (error instanceof LedgerError) return undefined;
    throw error;
  } finally {
    await database.close();
  }
}
