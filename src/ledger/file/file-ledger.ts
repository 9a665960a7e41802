import { join } from "node:path";
import { type Disk, openDirectory } from "../../disk/index.ts";
import { type Logger, silentLogger } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";
import { eventText } from "../event-text.ts";
import { type Ledger, LedgerError, type LedgerEvent } from "../ledger.ts";
import { type LedgerObserver, unobserved } from "../observe-ledger.ts";
import { Heads } from "./heads.ts";
import { Journal, type JournalLimits } from "./journal.ts";
import { recover } from "./recover.ts";
import { isWriterName } from "./writers.ts";

export interface FileLedgerOptions {
  /** The directory of the whole ledger; each writer has one of its own in it. */
  readonly directory: string;
  /** Who writes, see `ledgerWriter`. */
  readonly writer: string;
  readonly clock: Clock;
  readonly log?: Logger;
  readonly observer?: LedgerObserver;
  readonly limits?: JournalLimits;
  /** How often the heads of other writers are recorded. */
  readonly headsEveryMs?: number;
  /** For tests: a disk that loses things. */
  readonly openDisk?: (directory: string, clock: Clock) => Promise<Disk>;
}

const megabyte = 1024 * 1024;
const defaultLimits: JournalLimits = { segmentBytes: 16 * megabyte, waitingBytes: 32 * megabyte };

/**
 * A ledger in files, as one of its writers. Throws DiskError `in-use` when another process is this writer, and
 * LedgerError `damaged` when the end of what it wrote before is not what was written.
 */
export async function openFileLedger({
  directory,
  writer,
  clock,
  log = silentLogger,
  observer = unobserved,
  limits = defaultLimits,
  headsEveryMs = 60_000,
  openDisk = openDirectory,
}: FileLedgerOptions): Promise<Ledger> {
  if (!isWriterName(writer)) throw new TypeError(`${writer} cannot be the name of a writer`);
  const disk = await openDisk(join(directory, writer), clock);
  try {
    const recovered = await recover(disk, writer, log);
    const journal = new Journal({ disk, writer, limits, wrote: observer.wrote }, recovered);
    const append = observedAppend(journal, observer, clock);
    const heads = new Heads({ append }, { directory, writer, everyMs: headsEveryMs, clock, log });
    log.info("ledger opened", { directory, writer, seq: recovered.head.seq });
    return {
      append,
      async close() {
        await Promise.all([heads.stop(), journal.close()]);
      },
    };
  } catch (error) {
    await disk.close();
    throw error;
  }
}

function observedAppend(journal: Journal, observer: LedgerObserver, clock: Clock) {
  return async (event: LedgerEvent): Promise<void> => {
    const toldAt = clock.now();
    try {
      await journal.append(eventText(event));
    } catch (error) {
      if (error instanceof LedgerError) observer.refused(error.code);
      throw error;
    }
    observer.kept(event.type, clock.now() - toldAt);
  };
}
