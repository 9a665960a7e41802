import type { Logger } from "../../telemetry/index.ts";
import { backoffMs, type Clock, type Random, sleep } from "../../time/index.ts";
import type { LedgerDatabase } from "../database/ledger-database.ts";
import type { ShippableJournal } from "../file/journal.ts";
import { noHash, type Start } from "../file/row.ts";
import { conflict, LedgerError } from "../ledger.ts";

export interface ShipperOptions {
  readonly journal: ShippableJournal;
  readonly database: Pick<LedgerDatabase, "place" | "add" | "head">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Gets the number of shipped rows and of failed attempts. */
  readonly observer?: ShipperObserver;
}

export interface ShipperObserver {
  shipped(rows: number): void;
  failed(): void;
}

/** How far the database is behind the journal. */
export interface Lag {
  readonly events: number;
  readonly seconds: number;
}

const portion = { maxRows: 500, maxBytes: 1024 * 1024 };

/** Rows that follow each other this soon share a statement, and a sync of the database. */
const lingerMs = 100;

const backoff = { baseMs: 100, maxMs: 30_000, jitter: 0.2 };

/**
 * Ships the rows of a journal to the database, in order, for as long as it takes. It stores no state of its own:
 * the database has the position, the journal the remaining rows. So it may crash anywhere, and after a lost response it
 * only sends existing rows again. A segment is removed only after the database has all of its rows.
 */
export class Shipper {
  readonly #options: ShipperOptions;
  readonly #stop = new AbortController();
  readonly #working: Promise<void>;
  /** The last row that the database is known to have. Its hash is unknown if the database lacks it. */
  #shipped: Start;
  /** False: read it from the database again. A response may have been lost, or the database restored. */
  #isCertain = false;
  #isStopping = false;
  #failures = 0;
  #failingSince: number | undefined;
  #oldestAtMs: number | undefined;
  #wake: () => void = () => {};

  constructor(options: ShipperOptions) {
    this.#options = options;
    // Until the database responds, the rows that the journal still has are taken for unshipped: all before them were removed.
    this.#shipped = { seq: options.journal.first() - 1, hash: undefined };
    options.journal.onMore(() => this.#wake());
    this.#working = this.#work();
  }

  lag(): Lag {
    const { journal, clock } = this.#options;
    const events = journal.head().seq - this.#shipped.seq;
    if (events <= 0) return { events: 0, seconds: 0 };
    const sinceOldest = this.#oldestAtMs === undefined ? 0 : clock.wallMs() - this.#oldestAtMs;
    const sinceFailure = this.#failingSince === undefined ? 0 : clock.now() - this.#failingSince;
    return { events, seconds: Math.max(0, sinceOldest, sinceFailure) / 1_000 };
  }

  /** Ships the backlog if that is possible within `withinMs`, and ends. The rest is shipped after the next start. */
  async stop({ withinMs }: { readonly withinMs: number }): Promise<void> {
    const { clock } = this.#options;
    const timer = clock.after(withinMs, () => this.#stop.abort());
    this.#isStopping = true;
    this.#wake();
    // A pending database call ends by its own timeout; the caller does not wait for it.
    const givenUp = new Promise<void>((resolve) => this.#stop.signal.addEventListener("abort", () => resolve()));
    await Promise.race([this.#working, givenUp]);
    this.#stop.abort();
    timer.cancel();
  }

  async #work(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const rows = await this.#shipSome();
        this.#recovered();
        if (rows < portion.maxRows && !(await this.#more())) return;
      } catch (error) {
        if (this.#isStopping) return;
        await this.#failed(error as Error);
      }
    }
  }

  /** One portion, to the database and out of the journal. Resolves to the number of its rows. */
  async #shipSome(): Promise<number> {
    const { journal, database, observer } = this.#options;
    if (!this.#isCertain) this.#shipped = await this.#resume();
    this.#isCertain = true;
    const rows = await journal.read(this.#shipped.seq, portion);
    const [first, last] = [rows.at(0)?.row, rows.at(-1)?.row];
    if (!first || !last) return 0;
    this.#oldestAtMs = Date.parse(first.at);
    if (this.#shipped.hash !== undefined && first.previous !== this.#shipped.hash) throw this.#conflict();

    await database.add(rows);
    this.#shipped = { seq: last.seq, hash: last.hash };
    this.#oldestAtMs = undefined;
    observer?.shipped(rows.length);
    await journal.forget(last.seq);
    return rows.length;
  }

  async #resume(): Promise<Start> {
    const { journal, database, log } = this.#options;
    const { writer } = journal;
    const stored = (await database.head(writer)) ?? { seq: 0, hash: noHash };
    const newest = journal.head();
    if (stored.seq > newest.seq || (stored.seq === newest.seq && stored.hash !== newest.hash)) throw this.#conflict();
    const lastRemoved = journal.first() - 1;
    if (stored.seq >= lastRemoved) return stored;
    // Another database than before, or an old copy of it. Its missing rows are no longer in the journal.
    const gap = { writer, from: stored.seq + 1, to: lastRemoved, database: database.place };
    log.error("rows missing in the ledger database", gap);
    return { seq: lastRemoved, hash: undefined };
  }

  #conflict(): LedgerError {
    const { journal, database } = this.#options;
    return conflict(database.place, "last row", journal.writer);
  }

  /** Waits until there are more rows. False if there will be none. */
  async #more(): Promise<boolean> {
    const { journal, clock } = this.#options;
    const isBehind = () => journal.head().seq > this.#shipped.seq;
    while (!isBehind()) {
      if (this.#isStopping) return false;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (!this.#isStopping) await sleep(clock, lingerMs, this.#stop.signal, { background: true }).catch(() => {});
    return true;
  }

  #recovered() {
    const { log, database, clock } = this.#options;
    if (this.#failingSince !== undefined) {
      const forMs = Math.round(clock.now() - this.#failingSince);
      log.info("ledger database available again", { database: database.place, forMs, failures: this.#failures });
    }
    this.#failures = 0;
    this.#failingSince = undefined;
  }

  async #failed(error: Error): Promise<void> {
    const { log, clock, random, database, observer } = this.#options;
    observer?.failed();
    this.#failures++;
    const isFirst = this.#failingSince === undefined;
    this.#failingSince ??= clock.now();
    const fields = { database: database.place, behind: this.lag().events, error: error.message };
    const isHopeless = error instanceof LedgerError && error.code !== "unavailable";
    // Once per outage, which may be long; an error that needs an operator is logged repeatedly.
    if (isHopeless) log.error("ledger database rejected rows", fields);
    else if (isFirst) log.warn("ledger database unavailable", fields);
    this.#isCertain = false;
    const delayMs = backoffMs(this.#failures, backoff, random.fraction());
    await sleep(clock, delayMs, this.#stop.signal, { background: true }).catch(() => {});
  }
}
