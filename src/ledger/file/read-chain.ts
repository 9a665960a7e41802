import { join } from "node:path";
import { type DiskFile, type DiskView, readLines, type Segment } from "../../disk/index.ts";
import { LedgerError } from "../ledger.ts";
import { Chain, type ChainItem, type ChainProblem, firstStart, journalSegments } from "./chain.ts";
import type { Start } from "./row.ts";

/** Everything of one writer that is in its journal, checked. */
export async function* readWriter(view: DiskView, writer: string): AsyncGenerator<ChainItem> {
  const segments = journalSegments.among(await view.names());
  yield* readChain(view, writer, { segments, after: firstStart(segments) });
}

/** The content of `segments`, the writer's newest among them, checked to continue after `after`. */
export async function* readChain(
  view: DiskView,
  writer: string,
  { segments, after }: { readonly segments: readonly Segment[]; readonly after: Start },
): AsyncGenerator<ChainItem> {
  const chain = new Chain(writer, after);
  for (const segment of segments) {
    const file = await openSegment(view, segment);
    try {
      yield* chain.startSegment(segment, join(view.directory, segment.name), { isNewest: segment === segments.at(-1) });
      for await (const line of readLines(file)) yield* chain.take(line);
    } finally {
      await file.close();
    }
  }
  yield* chain.end();
}

async function openSegment(view: DiskView, { name }: Segment): Promise<DiskFile> {
  try {
    return await view.open(name, "read");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const why = "was just removed, because the database has its rows; read again, or query the database";
    throw new LedgerError("unavailable", `${join(view.directory, name)} ${why}`, { cause: error });
  }
}

export function damagedError({ file, line, message }: ChainProblem): LedgerError {
  return new LedgerError("damaged", `${file} is damaged at line ${line}: ${message}`);
}
