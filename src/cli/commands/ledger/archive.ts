import type { CheckpointOutcome, LedgerDatabase, Leftover, TrustedKey } from "../../../ledger/index.ts";
import type { Clock } from "../../../time/index.ts";
import { CommandError } from "../../command.ts";
import type { ledgerSources } from "../../declare/declare.ts";
import type { Terminal } from "../../output/terminal.ts";

/** The ledger, as far as it can be reached from here. */
export interface Archive {
  readonly terminal: Terminal;
  readonly database: LedgerDatabase;
  /** The directory of the journals; undefined if there is none here. */
  readonly journals: string | undefined;
  readonly nowMs: number;
  readonly clock: Clock;
  /** How long verification waits for rows that are on their way from the journals to the database. */
  readonly patienceMs: number;
  /** Every writer in the database has its journal here, unless it was removed or the writer was invented. */
  readonly expectsJournals: boolean;
  /** Brings over what processes have left in a directory of journals that do not run any more. */
  shipLeftovers(journals: string): Promise<readonly Leftover[]>;
  /** The public keys that may have signed a checkpoint, according to the configuration. */
  trustedKeys(): Promise<readonly TrustedKey[]>;
  /** Signs the heads of all chains and exports them to `directory`, or to the configured directory. */
  makeCheckpoint(directory: string | undefined): Promise<CheckpointOutcome>;
}

/** Where rows are read from. */
export type Source = (typeof ledgerSources)[number];

/** The directory of the journals. Throws if there is none here. */
export function journalsOf({ journals }: Archive): string {
  if (journals) return journals;
  throw new CommandError("no journal here; name the data directory of its process with --data, or set LEDGER_DIR");
}
