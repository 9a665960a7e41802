import type { ApprovalRow, OperationName, ProblemDocument } from "../../src/console/wire.ts";
import { ApiError } from "./api.ts";
import { joinWords } from "./operations.ts";

/** One approval of a batch. Its key makes a second attempt safe. */
export interface BatchItem {
  readonly row: ApprovalRow;
  readonly key: string;
}

export interface RefusedItem {
  readonly item: BatchItem;
  readonly problem: ProblemDocument;
}

/**
 * Performs one operation on each item in turn and returns those that were refused. A problem that is not about one object,
 * such as a lost connection, ends the batch: the items after it are returned with the same problem.
 */
export async function performBatch(
  items: readonly BatchItem[],
  perform: (item: BatchItem) => Promise<unknown>,
  onProgress: (done: number) => void,
): Promise<readonly RefusedItem[]> {
  const refused: RefusedItem[] = [];
  for (const [index, item] of items.entries()) {
    onProgress(index);
    try {
      await perform(item);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { problem } = error;
      if (!isAboutOneObject(problem)) {
        return [...refused, ...items.slice(index).map((rest) => ({ item: rest, problem }))];
      }
      refused.push({ item, problem });
    }
  }
  return refused;
}

function isAboutOneObject({ status }: ProblemDocument): boolean {
  return status === 404 || status === 409 || status === 422;
}

/** The same batch as command lines, one for each namespace. The command line accepts short names. */
export function batchCommands(
  operation: OperationName,
  rows: readonly ApprovalRow[],
  reason: string,
): readonly string[] {
  const byNamespace = new Map<string, string[]>();
  for (const { key, name } of rows) {
    const namespace = key.slice(0, key.indexOf("/"));
    byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), name]);
  }
  return [...byNamespace].map(([namespace, names]) =>
    joinWords(["interlock", operation, ...names, "-n", namespace, ...(reason ? ["--reason", reason] : [])]),
  );
}
