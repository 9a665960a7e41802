import { stat } from "node:fs/promises";
import { type LedgerPlace, ledgerDirectory, openLedgerDatabase, patienceMs } from "../../../app/index.ts";
import type { LedgerDatabase } from "../../../ledger/index.ts";
import { CommandError } from "../../command.ts";
import { type CommandContext, configFrom, dataDirectory } from "../../context.ts";
import type { ledgerSources } from "../../declare/declare.ts";
import { countedDatabase } from "./counted-database.ts";

/** The ledger, as far as it can be reached from here. */
export interface Archive extends CommandContext {
  readonly place: LedgerPlace;
  readonly database: LedgerDatabase;
  /** The directory of the journals; undefined if there is none here. */
  readonly journals: string | undefined;
}

/** The options of `interlock ledger`, for all its subcommands. */
export interface ArchiveOptions {
  readonly data?: string;
  readonly config?: string;
}

/** Opens the ledger, calls `work` with it, and closes it. */
export async function withArchive<T>(
  context: CommandContext,
  options: ArchiveOptions,
  work: (archive: Archive) => Promise<T>,
): Promise<T> {
  const { progress } = context.terminal;
  const place = {
    loaded: await configFrom(options.config, context),
    directory: options.data ?? dataDirectory(context),
  };
  const directory = ledgerDirectory(place);
  const journals = (await stat(directory).catch(() => undefined))?.isDirectory() ? directory : undefined;
  if (!journals && !place.loaded.config.ledger.url) {
    throw new CommandError(`no ledger in ${directory}; name the data directory of its process with --data`);
  }
  const database = countedDatabase(openLedgerDatabase(place, { waitMs: patienceMs }), progress);
  try {
    return await work({ ...context, place, database, journals });
  } finally {
    progress.clear();
    await database.close();
  }
}

/** The source of the rows. */
export type Source = (typeof ledgerSources)[number];

/** The directory of the journals. Throws if there is none here. */
export function requireJournals({ journals }: Archive): string {
  if (journals) return journals;
  throw new CommandError("no journal here; name the data directory of its process with --data, or set LEDGER_DIR");
}
