import { join } from "node:path";
import { type Disk, directoryOpener } from "../../disk/index.ts";
import { type Logger, silentLogger } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";
import { eventText } from "../event-text.ts";
import { type Ledger, LedgerError } from "../ledger.ts";
import { type LedgerObserver, unobserved } from "../observe-ledger.ts";
import { startHeads } from "./heads.ts";
import { Journal, type JournalLimits, type ShippableJournal } from "./journal.ts";
import { openJournalLog } from "./recover.ts";
import type { Head } from "./row.ts";
import { isWriterName, journalFormat } from "./writers.ts";

export interface FileLedgerOptions {
  /** The directory of the whole ledger; each writer has one of its own in it. */
  readonly directory: string;
  /** The name from `ledgerWriter`. */
  readonly writer: string;
  readonly clock: Clock;
  readonly log?: Logger;
  readonly observer?: LedgerObserver;
  readonly limits?: Partial<JournalLimits>;
  /** How often the heads of other writers are recorded. */
  readonly headsEveryMs?: number;
  /** The heads of all writers in the database. They are recorded as well. */
  readonly storedHeads?: () => Promise<ReadonlyMap<string, Head>>;
  /** For tests with a disk that fails or loses data. */
  readonly openDisk?: (directory: string, clock: Clock) => Promise<Disk>;
}

/** A ledger, and the journal that it writes. */
export interface FileLedger extends Ledger {
  readonly journal: ShippableJournal;
}

const megabyte = 1024 * 1024;
const defaultLimits: JournalLimits = {
  segmentBytes: 16 * megabyte,
  waitingBytes: 32 * megabyte,
  journalBytes: Number.POSITIVE_INFINITY,
};

/**
 * A ledger in files, as one of its writers. Throws DiskError `in-use` when another process is this writer, and
 * LedgerError `damaged` when the end of its journal was changed.
 */
export async function openFileLedger({
  directory,
  writer,
  clock,
  log = silentLogger,
  observer = unobserved,
  limits,
  headsEveryMs = 60_000,
  storedHeads,
  openDisk = directoryOpener(journalFormat),
}: FileLedgerOptions): Promise<FileLedger> {
  if (!isWriterName(writer)) throw new TypeError(`${writer} is not a valid writer name`);
  const disk = await openDisk(join(directory, writer), clock);
  try {
    const journal = new Journal({
      ...{ disk, writer, observer, clock },
      limits: { ...defaultLimits, ...limits },
      log: await openJournalLog(disk, writer, log),
    });
    const append = observedAppend(journal, { observer, clock, log });
    const heads = startHeads({ append }, { directory, writer, everyMs: headsEveryMs, storedHeads, clock, log });
    log.info("ledger opened", { directory, writer, seq: journal.head().seq });
    return {
      append,
      async close() {
        await Promise.all([heads.stop(), journal.close()]);
      },
      journal,
    };
  } catch (error) {
    await disk.close();
    throw error;
  }
}

/** Reports each event to `observer`, and logs once when no event can be recorded any more, and when that is over. */
function observedAppend(
  journal: Journal,
  { observer, clock, log }: { readonly observer: LedgerObserver; readonly clock: Clock; readonly log: Logger },
): Ledger["append"] {
  let outage: string | undefined;
  return async (event) => {
    const startedAt = clock.now();
    try {
      await journal.append(eventText(event));
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error;
      const { code, message } = error;
      observer.refused(code);
      const isLasting = code === "full" || code === "failed";
      if (isLasting && outage !== code) log.error("ledger append failed", { code, error: message });
      if (isLasting) outage = code;
      throw error;
    }
    observer.kept(event.type, clock.now() - startedAt);
    if (outage) log.info("ledger append recovered", { code: outage });
    outage = undefined;
  };
}
