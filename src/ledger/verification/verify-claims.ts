import type { LedgerDatabase } from "../database/ledger-database.ts";
import type { ChainProblem } from "../file/chain.ts";
import { contradictedClaim } from "./claims.ts";

export interface ClaimsReport {
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
