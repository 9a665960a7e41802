import type { LedgerDatabase } from "../database/ledger-database.ts";
import { eventText } from "../event-text.ts";
import type { ChainProblem } from "../file/chain.ts";
import type { LedgerRow } from "../file/row.ts";

/**
 * A replica that takes over may record an event again that its predecessor has recorded, with the time at which it detected
 * it. Rows that are further apart are not such a repetition.
 */
const maxRepeatMs = 600_000;

/**
 * Compares rows that claim one event. Rows of one writer are repetitions. A row of another writer is one, too, if it has
 * the same type and facts and almost the same time, or if both writers have their journals here: a row that is in a
 * journal was recorded by a process and not added to the database. Otherwise an invented writer may claim the event, and
 * readers, who see the row with the earliest time, may see the invention.
 */
export function contradictedClaim(
  rows: readonly LedgerRow[],
  { place, hasJournal }: { readonly place: string; readonly hasJournal: (writer: string) => boolean },
): ChainProblem | undefined {
  for (const [i, one] of rows.entries()) {
    for (const other of rows.slice(i + 1)) {
      if (one.writer === other.writer || isRepetition(one, other)) continue;
      if (hasJournal(one.writer) && hasJournal(other.writer)) continue;
      // The writer without a journal here is the one to doubt.
      const [known, doubted] = hasJournal(other.writer) ? [other, one] : [one, other];
      const message = `event ${doubted.id} of writer ${doubted.writer} contradicts row ${known.seq} of writer ${known.writer}, which claims the same id`;
      return { kind: "contradicted", file: `${place}, writer ${doubted.writer}`, line: doubted.seq, message };
    }
  }
  return undefined;
}

function isRepetition(one: LedgerRow, other: LedgerRow): boolean {
  if (Math.abs(Date.parse(one.at) - Date.parse(other.at)) > maxRepeatMs) return false;
  return hashedContent(one) === hashedContent(other);
}

function hashedContent(row: LedgerRow): string {
  return eventText({ id: row.id, type: row.type, at: "1970-01-01T00:00:00.000Z", facts: row.facts });
}

interface ClaimsReport {
  /** Events that several writers recorded, contradicted or not. */
  readonly repeated: number;
  readonly problems: readonly ChainProblem[];
}

/** Checks the events in the database that several writers claim. `journals`: the writers whose journals are here. */
export async function verifyClaims(
  database: Pick<LedgerDatabase, "place" | "repeatedEvents">,
  journals: readonly string[],
): Promise<ClaimsReport> {
  const withJournal = new Set(journals);
  const hasJournal = (writer: string) => withJournal.has(writer);
  const problems: ChainProblem[] = [];
  let repeated = 0;
  for await (const rows of database.repeatedEvents()) {
    repeated++;
    const problem = contradictedClaim(rows, { place: database.place, hasJournal });
    if (problem) problems.push(problem);
  }
  return { repeated, problems };
}
