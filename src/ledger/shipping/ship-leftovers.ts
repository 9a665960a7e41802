import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DiskError } from "../../disk/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Clock, Random } from "../../time/index.ts";
import type { LedgerDatabase } from "../database/ledger-database.ts";
import { journalSegments } from "../file/chain.ts";
import { openFileLedger } from "../file/file-ledger.ts";
import type { ShippableJournal } from "../file/journal.ts";
import { listWriters, type Writer } from "../file/writers.ts";
import { LedgerError } from "../ledger.ts";
import { Shipper } from "./shipper.ts";

export interface LeftoversOptions {
  /** The directory of the whole ledger. */
  readonly directory: string;
  /** Our own writer, whose rows are shipped anyway. */
  readonly except?: string;
  /** Journals that were written to more recently are skipped: their process may be restarting. */
  readonly quietForMs: number;
  /** The max time for one journal. */
  readonly withinMs: number;
  readonly database: LedgerDatabase;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal?: AbortSignal;
}

/** The result for one writer's journal. `left`: rows that the database still lacks. `unreadable`: none of it was shipped. */
export type Leftover =
  | { readonly writer: string; readonly kind: "in-use" | "too-recent" }
  | { readonly writer: string; readonly kind: "unreadable"; readonly problem: string }
  | { readonly writer: string; readonly kind: "shipped"; readonly rows: number; readonly left: number };

/**
 * Ships the remaining rows of writers whose processes do not restart. A journal belongs to the process that has locked its
 * directory, and the kernel releases that lock when the process ends. So the process that gets the lock may ship the rows. It
 * writes nothing to the journal, and releases the lock afterwards.
 */
export async function shipLeftovers(options: LeftoversOptions): Promise<readonly Leftover[]> {
  const found: Leftover[] = [];
  for (const writer of await listWriters(options.directory)) {
    if (options.signal?.aborted) break;
    if (writer.name !== options.except) found.push(await shipOne(writer, options));
  }
  return found;
}

async function shipOne(writer: Writer, options: LeftoversOptions): Promise<Leftover> {
  const { directory, clock, log, quietForMs } = options;
  const { name } = writer;
  try {
    if (clock.wallMs() - (await writtenAtMs(writer)) < quietForMs) return { writer: name, kind: "too-recent" };
    // It records no heads: nothing may be written in the name of another process.
    const ledger = await openFileLedger({
      directory,
      writer: name,
      clock,
      log,
      headsEveryMs: Number.POSITIVE_INFINITY,
    });
    try {
      return { writer: name, kind: "shipped", ...(await shipAll(ledger.journal, options)) };
    } finally {
      await ledger.close();
    }
  } catch (error) {
    if (error instanceof DiskError && error.code === "in-use") return { writer: name, kind: "in-use" };
    if (!(error instanceof DiskError || error instanceof LedgerError)) throw error;
    // A damaged journal must not keep the others from the database.
    return { writer: name, kind: "unreadable", problem: error.message };
  }
}

async function shipAll(
  journal: ShippableJournal,
  { database, clock, random, log, withinMs, signal }: LeftoversOptions,
) {
  let rows = 0;
  const observer = {
    shipped(more: number) {
      rows += more;
    },
    failed() {},
  };
  const shipper = new Shipper({ journal, database, clock, random, log, observer });
  const stop = () => void shipper.stop({ withinMs: 0 });
  signal?.addEventListener("abort", stop, { once: true });
  await shipper.stop({ withinMs });
  signal?.removeEventListener("abort", stop);
  return { rows, left: shipper.lag().events };
}

/** When its newest segment was last written to. */
async function writtenAtMs({ view }: Writer): Promise<number> {
  const newest = journalSegments.among(await view.names()).at(-1);
  return newest ? (await stat(join(view.directory, newest.name))).mtimeMs : 0;
}
