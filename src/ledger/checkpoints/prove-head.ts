import type { ChainItem, ChainProblem } from "../file/chain.ts";
import type { Head } from "../file/row.ts";

/**
 * Checks that a writer's chain, recomputed from its first row, leads to the head that a checkpoint has. Then no row up to
 * it was changed, removed, added or moved: each hash covers the hash before it. Rows behind the head are not looked at.
 */
export async function proveHead(
  writer: string,
  items: AsyncIterable<ChainItem> | Iterable<ChainItem>,
  { head, place }: { readonly head: Head; readonly place: string },
): Promise<readonly ChainProblem[]> {
  let last = 0;
  for await (const item of items) {
    if (item.kind === "problem") return [item.problem];
    if (item.kind === "tail") break;
    const { row, file, line } = item;
    if (last === 0 && row.seq > 1) {
      const message = `rows 1 to ${row.seq - 1} of writer ${writer} are no longer here, so row ${head.seq} of the checkpoint cannot be proven; verify the database`;
      return [{ kind: "missing", file, line: line.number, message }];
    }
    last = row.seq;
    if (row.seq < head.seq) continue;
    if (row.seq === head.seq && row.hash === head.hash) return [];
    const message = `row ${head.seq} of writer ${writer} is not the one in the checkpoint: it or a row before it was changed`;
    return [{ kind: "changed", file, line: line.number, message }];
  }
  const message = `the checkpoint has row ${head.seq} of writer ${writer}, but the chain ends with row ${last}`;
  return [{ kind: "missing", file: place, line: last, message }];
}
