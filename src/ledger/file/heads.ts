import type { Logger } from "../../telemetry/index.ts";
import { type Clock, sleep } from "../../time/index.ts";
import type { Ledger } from "../ledger.ts";
import { journalSegments } from "./chain.ts";
import { lastRows } from "./last-rows.ts";
import type { Head } from "./row.ts";
import { listWriters, type Writer } from "./writers.ts";

interface HeadsOptions {
  readonly directory: string;
  readonly writer: string;
  readonly everyMs: number;
  /** The heads of all writers in the database. */
  readonly storedHeads: (() => Promise<ReadonlyMap<string, Head>>) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The head of another writer's chain, and where it was read. */
interface OtherHead extends Head {
  readonly writer: string;
  readonly source: "journal" | "database";
}

/** Max heads in one event. More could exceed the size of an event. */
const maxHeads = 1_000;

/**
 * Periodically records the heads of the other writers in our chain. A chain by itself cannot show that its last rows were
 * removed; the record of another writer can.
 */
export function startHeads(ledger: Pick<Ledger, "append">, options: HeadsOptions): { stop(): Promise<void> } {
  const { everyMs, clock, log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  /** By source and writer, the hash of the newest head that we recorded. */
  const recorded = new Map<string, string>();

  async function run() {
    for (;;) {
      await sleep(clock, everyMs, signal, { background: true }).catch(() => {});
      if (signal.aborted) return;
      await recordNewHeads().catch((error: Error) => {
        // A ledger that is being closed takes nothing more; the next process records them.
        if (!signal.aborted) log.warn("heads of other writers not recorded", { error: error.message });
      });
    }
  }

  async function recordNewHeads() {
    const heads = [...(await journalHeads(options)), ...(await databaseHeads(options))];
    const newHeads = heads.filter((head) => recorded.get(recordKey(head)) !== head.hash);
    for (let from = 0; from < newHeads.length; from += maxHeads) {
      const part = newHeads.slice(from, from + maxHeads);
      await ledger.append(headsEvent(part, from, options));
      for (const head of part) recorded.set(recordKey(head), head.hash);
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function recordKey({ source, writer }: OtherHead): string {
  return `${source} ${writer}`;
}

function headsEvent(part: readonly OtherHead[], from: number, { writer, clock }: HeadsOptions) {
  const at = new Date(clock.wallMs()).toISOString();
  // Separate, because rows of a journal may not be in the database yet, and shipped rows may be gone from the journal.
  const heads = headFacts(part, "journal");
  const stored = headFacts(part, "database");
  const facts = { heads, ...(Object.keys(stored).length > 0 && { stored }) };
  return { id: `${writer}/heads/${at}/${from}`, type: "ledger.heads", at, facts } as const;
}

function headFacts(heads: readonly OtherHead[], source: OtherHead["source"]) {
  const wanted = heads.filter((head) => head.source === source);
  return Object.fromEntries(wanted.map(({ writer, seq, hash }) => [writer, { seq, hash }]));
}

async function journalHeads({ directory, writer, log }: HeadsOptions): Promise<OtherHead[]> {
  const heads: OtherHead[] = [];
  for (const other of await listWriters(directory)) {
    if (other.name === writer) continue;
    try {
      const head = await readHead(other);
      if (head) heads.push({ writer: other.name, seq: head.seq, hash: head.hash, source: "journal" });
    } catch (error) {
      // One unreadable journal must not keep the other heads from being recorded.
      log.warn("head of a writer not read", { writer: other.name, error: (error as Error).message });
    }
  }
  return heads;
}

async function readHead({ name, view }: Writer): Promise<Head | undefined> {
  const newestSegments = journalSegments.among(await view.names()).slice(-2);
  // The newest segment may have no rows yet.
  for (const segment of newestSegments.reverse()) {
    const { rows } = await lastRows(view, segment, name);
    // Rows that only record heads do not count: otherwise two idle writers would give each other something to record.
    const head = rows.findLast(({ type }) => type !== "ledger.heads") ?? rows.at(-1);
    if (head) return head;
  }
  return undefined;
}

/** The database may be unavailable; that is reported elsewhere, and must not prevent recording the rest. */
async function databaseHeads({ writer, storedHeads }: HeadsOptions): Promise<OtherHead[]> {
  const heads = (await storedHeads?.().catch(() => undefined)) ?? new Map<string, Head>();
  return [...heads]
    .filter(([name]) => name !== writer)
    .map(([name, head]) => ({ ...head, writer: name, source: "database" }));
}
