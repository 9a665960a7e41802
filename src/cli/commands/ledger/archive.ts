import { stat } from "node:fs/promises";
import {
  checkpointKeys,
  type LedgerPlace,
  ledgerDirectory,
  openLedgerDatabase,
  patienceMs,
  trustedKeys,
} from "../../../app/index.ts";
import {
  type CheckpointOutcome,
  type LedgerDatabase,
  type Leftover,
  makeCheckpoint,
  shipLeftovers,
  type TrustedKey,
} from "../../../ledger/index.ts";
import { silentLogger } from "../../../telemetry/index.ts";
import type { Clock } from "../../../time/index.ts";
import { CommandError } from "../../command.ts";
import { type CommandContext, configFrom, dataDirectory } from "../../context.ts";
import type { ledgerSources } from "../../declare/declare.ts";
import type { Terminal } from "../../output/terminal.ts";
import { countedDatabase } from "./counted-database.ts";

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

/** The options of `interlock ledger`, for all its subcommands. */
export interface ArchiveOptions {
  readonly data?: string;
  readonly config?: string;
}

/** Opens the ledger, has `work` done with it, and closes it. */
export async function inArchive(
  context: CommandContext,
  options: ArchiveOptions,
  work: (archive: Archive) => Promise<number>,
): Promise<number> {
  const { terminal, clock, random } = context;
  const place = {
    loaded: await configFrom(options.config, context),
    directory: options.data ?? dataDirectory(context),
  };
  const { ledger } = place.loaded.config;
  const directory = ledgerDirectory(place);
  const journals = (await stat(directory).catch(() => undefined))?.isDirectory() ? directory : undefined;
  if (!journals && !ledger.url) {
    throw new CommandError(`no ledger in ${directory}; name the data directory of its process with --data`);
  }
  const database = countedDatabase(openLedgerDatabase(place, { waitMs: patienceMs }), terminal.progress);
  const patience = { quietForMs: 0, withinMs: 600_000 };
  try {
    return await work({
      terminal,
      database,
      journals,
      nowMs: clock.wallMs(),
      clock,
      patienceMs,
      // The file of SQLite lies among the journals that it is made from; PostgreSQL is shared with other machines.
      expectsJournals: !ledger.url,
      shipLeftovers: (directory) =>
        shipLeftovers({ directory, ...patience, database, clock, random, log: silentLogger }),
      trustedKeys: () => allTrustedKeys(place),
      makeCheckpoint: (directory) => exportCheckpoint(database, directory, place, context),
    });
  } finally {
    terminal.progress.clear();
    await database.close();
  }
}

async function allTrustedKeys({ loaded }: LedgerPlace) {
  const keys = await checkpointKeys(loaded);
  return keys ? [keys.key, ...keys.trusted] : await trustedKeys(loaded);
}

async function exportCheckpoint(
  database: LedgerDatabase,
  directory: string | undefined,
  { loaded }: LedgerPlace,
  { clock, terminal }: CommandContext,
): Promise<CheckpointOutcome> {
  const keys = await checkpointKeys(loaded);
  if (!keys) {
    throw new CommandError("no signing key; set LEDGER_CHECKPOINT_KEY_FILE", [
      "make one with: interlock ledger keygen --out FILE",
    ]);
  }
  const place = directory ?? loaded.config.ledger.checkpointDir;
  if (!place) throw new CommandError("no export directory; name it with --out DIR, or set LEDGER_CHECKPOINT_DIR");
  const createdBy = `command-${terminal.id()}`;
  return makeCheckpoint({ database, ...keys, directory: place, createdBy, nowMs: clock.wallMs() });
}

/** Where rows are read from. */
export type Source = (typeof ledgerSources)[number];

/** The directory of the journals. Throws if there is none here. */
export function journalsOf({ journals }: Archive): string {
  if (journals) return journals;
  throw new CommandError("no journal here; name the data directory of its process with --data, or set LEDGER_DIR");
}
