import { damagedError, readWriter } from "./read-chain.ts";
import type { LedgerRow } from "./row.ts";
import { listWriters, type Writer } from "./writers.ts";

/**
 * Every event in `directory` once, regardless of how many writers recorded it; readable at any time. The rows of a
 * writer come in its order, those of different writers by the time of their events; of several rows about one event
 * the first in this order is taken. Remembers the id of every event it has passed. Throws LedgerError `damaged` where
 * the ledger is.
 */
export async function* readLedger(directory: string): AsyncGenerator<LedgerRow> {
  const sources = (await listWriters(directory)).map((writer) => readRows(writer));
  try {
    const seen = new Set<string>();
    for await (const row of mergeByTime(sources)) {
      if (seen.has(row.id)) continue;
      seen.add(row.id);
      yield row;
    }
  } finally {
    // A reader that stops early must leave no file open.
    for (const source of sources) await source.return(undefined);
  }
}

async function* readRows({ name, view }: Writer): AsyncGenerator<LedgerRow> {
  for await (const item of readWriter(view, name)) {
    if (item.kind === "problem") throw damagedError(item.problem);
    if (item.kind === "row") yield item.row;
  }
}

async function* mergeByTime(sources: readonly AsyncGenerator<LedgerRow>[]): AsyncGenerator<LedgerRow> {
  const nexts: (Next | undefined)[] = [];
  for (const source of sources) nexts.push(await readNext(source));
  for (let i = earliest(nexts); i >= 0; i = earliest(nexts)) {
    const { row, source } = nexts[i] as Next;
    yield row;
    nexts[i] = await readNext(source);
  }
}

interface Next {
  readonly source: AsyncGenerator<LedgerRow>;
  readonly row: LedgerRow;
  readonly at: number;
}

/** Undefined when there are no more. */
async function readNext(source: AsyncGenerator<LedgerRow>): Promise<Next | undefined> {
  const { done, value } = await source.next();
  return done ? undefined : { source, row: value, at: Date.parse(value.at) };
}

/** The place of the earliest, -1 if there is none. */
function earliest(nexts: readonly (Next | undefined)[]): number {
  let found = -1;
  let at = Number.POSITIVE_INFINITY;
  for (const [i, next] of nexts.entries()) {
    if (!next || !(next.at < at)) continue;
    found = i;
    at = next.at;
  }
  return found;
}
