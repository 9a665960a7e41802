import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { LoadedConfig } from "../config/index.ts";
import { DiskError } from "../disk/index.ts";
import {
  type EventFilter,
  type FileLedger,
  type FileLedgerOptions,
  type Head,
  type Ledger,
  type LedgerDatabase,
  LedgerError,
  type LedgerEvent,
  ledgerDatabase,
  ledgerWriter,
  observeLedger,
  observeShipping,
  openFileLedger,
  parseSigningKey,
  postgresStore,
  readSigningKey,
  readTrustedKeys,
  type SigningKey,
  type SqliteStoreOptions,
  shipLeftovers,
  shippedLedger,
  sqliteStore,
  startCheckpoints,
  type TrustedKey,
} from "../ledger/index.ts";
import { sleep } from "../time/index.ts";
import type { ProcessTools } from "./stage.ts";

export interface LedgerOptions extends ProcessTools {
  readonly loaded: Pick<LoadedConfig, "config">;
  /** The directory of this process, with its writer name. */
  readonly directory: string;
}

const megabyte = 1024 * 1024;

/** Opens this process' part of the ledger, as configured. Its rows go to the database by themselves. */
export async function openLedger({ loaded, directory, clock, random, log, metrics }: LedgerOptions): Promise<Ledger> {
  const { maxJournalBytes } = loaded.config.ledger;
  warnOfVolume({ loaded, directory, log });
  // Read first: an invalid key is an error at start, not at the first checkpoint.
  const keys = await checkpointKeys(loaded);
  const database = openLedgerDatabase({ loaded, directory });
  const writer = await ledgerWriter(join(directory, "ledger-writer"), random);
  const ledger = await openWithRetry({
    directory: ledgerDirectory({ loaded, directory }),
    writer,
    clock,
    log,
    observer: observeLedger(metrics),
    // Space is freed by whole segments, and the two newest are kept.
    limits: { journalBytes: maxJournalBytes, segmentBytes: Math.min(16 * megabyte, Math.ceil(maxJournalBytes / 8)) },
    storedHeads: () => headsIn(database),
  });
  const observer = observeShipping(metrics, () => ({ lag: shipped.lag(), journalBytes: ledger.journal.bytes() }));
  const shipped = shippedLedger({ ledger, database, clock, random, log, observer });
  const closing = new AbortController();
  const leftovers = shipOthers({ loaded, directory, clock, random, log }, writer, closing.signal);
  const { checkpointDir, checkpointIntervalMs: everyMs } = loaded.config.ledger;
  const checkpoints =
    keys && checkpointDir
      ? startCheckpoints({ database, ...keys, directory: checkpointDir, createdBy: writer, everyMs, clock, log })
      : undefined;
  return {
    append: shipped.append,
    async close() {
      closing.abort();
      await Promise.all([leftovers, checkpoints?.stop()]);
      await shipped.close();
    },
  };
}

/** Another process that ships the remaining rows of this journal holds it for a moment. */
async function openWithRetry(options: FileLedgerOptions): Promise<FileLedger> {
  for (let tries = 1; ; tries++) {
    try {
      return await openFileLedger(options);
    } catch (error) {
      const isTaken = error instanceof DiskError && error.code === "in-use";
      if (!isTaken || tries === 5) throw error;
      await sleep(options.clock, 500);
    }
  }
}

/** Ships the rows of writers in the same directory that have been inactive for a while and may not start again. */
async function shipOthers(
  { loaded, directory: own, clock, random, log }: Omit<LedgerOptions, "metrics">,
  except: string,
  signal: AbortSignal,
): Promise<void> {
  const database = openLedgerDatabase({ loaded, directory: own });
  const directory = ledgerDirectory({ loaded, directory: own });
  const patience = { quietForMs: 300_000, withinMs: 60_000 };
  try {
    const found = await shipLeftovers({ directory, except, ...patience, database, clock, random, log, signal });
    for (const { writer, ...one } of found) {
      if (one.kind === "shipped" && one.rows > 0) log.info("rows of another writer shipped", { writer, ...one });
      if (one.kind === "unreadable") log.warn("rows of another writer not shipped", { writer, problem: one.problem });
    }
  } catch (error) {
    log.warn("shipping rows of other writers failed", { error: (error as Error).message });
  } finally {
    // A frozen database never responds, not even to a close.
    void database.close().catch(() => {});
  }
}

export interface CheckpointKeys {
  readonly key: SigningKey;
  /** Besides it. */
  readonly trusted: readonly TrustedKey[];
}

/** The keys that the configuration names; undefined if it names no private key. Throws KeyError. */
export async function checkpointKeys({ config }: Pick<LoadedConfig, "config">): Promise<CheckpointKeys | undefined> {
  const { checkpointKey, checkpointKeyFile } = config.ledger;
  if (!checkpointKey && !checkpointKeyFile) return undefined;
  const key = checkpointKey
    ? parseSigningKey(checkpointKey.reveal(), "ledger.checkpointKey")
    : await readSigningKey(checkpointKeyFile ?? "");
  return { key, trusted: await trustedKeys({ config }) };
}

/** Public keys that the configuration names besides the one of the private key. */
export async function trustedKeys({ config }: Pick<LoadedConfig, "config">): Promise<readonly TrustedKey[]> {
  const { checkpointTrustedKeysFile } = config.ledger;
  return checkpointTrustedKeysFile ? await readTrustedKeys(checkpointTrustedKeysFile) : [];
}

/** The time that a command waits for a locked database. It is longer than in a stage, whose event loop would be blocked. */
export const patienceMs = 5_000;

export type LedgerPlace = Pick<LedgerOptions, "loaded" | "directory">;

/** Whether a ledger can be read from this process. */
export async function hasLedger(place: LedgerPlace): Promise<boolean> {
  if (place.loaded.config.ledger.url) return true;
  return (await stat(ledgerDirectory(place)).catch(() => undefined))?.isDirectory() ?? false;
}

/** Warns at start: after the loss of the node it is too late. */
function warnOfVolume({ loaded, directory, log }: Pick<LedgerOptions, "loaded" | "directory" | "log">): void {
  const { volume, url } = loaded.config.ledger;
  if (volume === "persistent") return;
  log.warn("ledger on a volume that may vanish", {
    directory: ledgerDirectory({ loaded, directory }),
    lost: url
      ? "events that have not reached the database when the pod or its node is lost"
      : "everything that this process has recorded, its database file included, when the pod or its node is lost",
    next: url
      ? "if that matters, give each pod a persistent volume, and set ledger.volume to persistent"
      : "set LEDGER_URL to a PostgreSQL database, or give each pod a persistent volume and set ledger.volume to persistent",
  });
}

/** Where the journals are, of this process and of those that share the directory. */
export function ledgerDirectory({ loaded, directory }: LedgerPlace): string {
  return loaded.config.ledger.dir ?? join(directory, "ledger");
}

/** Opens the configured database. It connects, or creates a file, at the first query. */
export function openLedgerDatabase(options: LedgerPlace, store: SqliteStoreOptions = {}): LedgerDatabase {
  const url = options.loaded.config.ledger.url?.reveal();
  if (url) return ledgerDatabase(postgresStore({ url }));
  const file = join(ledgerDirectory(options), "ledger.sqlite");
  return ledgerDatabase(sqliteStore(file, store));
}

async function headsIn(database: LedgerDatabase): Promise<ReadonlyMap<string, Head>> {
  const heads = new Map<string, Head>();
  for (const writer of await database.writers()) {
    const head = await database.head(writer, { besidesHeads: true });
    if (head) heads.set(writer, head);
  }
  return heads;
}

/** Selects events of the ledger; see `readEvents` in the context of operations. */
interface RecordedQuery {
  readonly subject: EventFilter;
  readonly matches?: ((event: LedgerEvent) => boolean) | undefined;
  readonly max: number;
}

/** The newest events of the ledger, oldest first. Undefined if it cannot be read: `why` explains a part without it. */
export async function readRecorded(
  { subject, matches = () => true, max }: RecordedQuery,
  place: LedgerPlace,
  store?: SqliteStoreOptions,
): Promise<readonly LedgerEvent[] | undefined> {
  if (!(await hasLedger(place))) return undefined;
  const database = openLedgerDatabase(place, { waitMs: patienceMs, ...store });
  try {
    const events: LedgerEvent[] = [];
    for await (const event of database.events(subject, { newestFirst: true })) {
      if (matches(event)) events.push(event);
      if (events.length >= max) break;
    }
    return events.reverse();
  } catch (error) {
    if (error instanceof LedgerError) return undefined;
    throw error;
  } finally {
    await database.close();
  }
}
