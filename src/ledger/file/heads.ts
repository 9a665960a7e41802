import type { Logger } from "../../telemetry/index.ts";
import type { Clock, Timer } from "../../time/index.ts";
import type { Ledger } from "../ledger.ts";
import { journalSegments } from "./chain.ts";
import { lastRows } from "./last-rows.ts";
import type { Head } from "./row.ts";
import { listWriters, type Writer } from "./writers.ts";

interface HeadsOptions {
  readonly directory: string;
  readonly writer: string;
  readonly everyMs: number;
  /** As far as the database has them. */
  readonly storedHeads: (() => Promise<ReadonlyMap<string, Head>>) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Periodically records the heads of the other writers in our chain. A chain by itself cannot show that its last rows were
 * removed; the record of another writer can.
 */
export class Heads {
  readonly #ledger: Pick<Ledger, "append">;
  readonly #options: HeadsOptions;
  readonly #recorded = new Map<string, string>();
  #timer: Timer | undefined;
  #recording: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(ledger: Pick<Ledger, "append">, options: HeadsOptions) {
    this.#ledger = ledger;
    this.#options = options;
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#recording;
  }

  #schedule() {
    if (this.#stopped) return;
    const { clock, everyMs } = this.#options;
    this.#timer = clock.after(everyMs, () => void this.#due(), { background: true });
  }

  async #due() {
    this.#recording = this.#record().catch((error: Error) => {
      // A ledger that is being closed takes nothing more; the next process records them.
      if (!this.#stopped) this.#options.log.warn("heads of other writers not recorded", { error: error.message });
    });
    await this.#recording;
    this.#schedule();
  }

  async #record() {
    const heads = this.#news("journal", await this.#journalHeads());
    const stored = this.#news("database", await this.#storedHeads());
    if (Object.keys(heads).length + Object.keys(stored).length === 0) return;

    const at = new Date(this.#options.clock.wallMs()).toISOString();
    const id = `${this.#options.writer}/heads/${at}`;
    // Separate, because rows of a journal may not be in the database yet, and shipped rows may be gone from the journal.
    const facts = { heads, ...(Object.keys(stored).length > 0 && { stored }) };
    await this.#ledger.append({ id, type: "ledger.heads", at, facts });
    for (const [name, { hash }] of Object.entries(heads)) this.#recorded.set(`journal ${name}`, hash);
    for (const [name, { hash }] of Object.entries(stored)) this.#recorded.set(`database ${name}`, hash);
  }

  /** Those of others that were not recorded before. */
  #news(
    where: "journal" | "database",
    found: ReadonlyMap<string, Head>,
  ): Record<string, { seq: number; hash: string }> {
    const news: Record<string, { seq: number; hash: string }> = {};
    for (const [name, { seq, hash }] of found) {
      const isNew = name !== this.#options.writer && this.#recorded.get(`${where} ${name}`) !== hash;
      if (isNew) news[name] = { seq, hash };
    }
    return news;
  }

  async #journalHeads(): Promise<ReadonlyMap<string, Head>> {
    const found = new Map<string, Head>();
    for (const other of await this.#others()) {
      const head = await this.#readHead(other);
      if (head) found.set(other.name, head);
    }
    return found;
  }

  /** The database may be unavailable; that is reported elsewhere, and must not prevent recording the rest. */
  async #storedHeads(): Promise<ReadonlyMap<string, Head>> {
    return (await this.#options.storedHeads?.().catch(() => undefined)) ?? new Map();
  }

  async #others(): Promise<Writer[]> {
    const { directory, writer } = this.#options;
    return (await listWriters(directory)).filter(({ name }) => name !== writer);
  }

  /** One writer's trouble must not keep the others' heads from being recorded. */
  async #readHead({ name, view }: Writer): Promise<Head | undefined> {
    try {
      // A segment that was just begun has no rows yet.
      for (const segment of journalSegments
        .among(await view.names())
        .slice(-2)
        .reverse()) {
        const { rows } = await lastRows(view, segment, name);
        // That it has recorded heads is no news: otherwise two idle writers would give each other something to record.
        const head = rows.findLast(({ type }) => type !== "ledger.heads") ?? rows.at(-1);
        if (head) return head;
      }
    } catch (error) {
      this.#options.log.warn("head of a writer not read", { writer: name, error: (error as Error).message });
    }
    return undefined;
  }
}
