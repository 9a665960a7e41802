import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createDurably, makeDirectory } from "../../disk/index.ts";
import type { LedgerDatabase } from "../database/ledger-database.ts";
import { databaseChain } from "../database/verify-database.ts";
import type { ChainProblem } from "../file/chain.ts";
import { type Head, noHash } from "../file/row.ts";
import { type Checkpoint, readCheckpoint, signCheckpoint } from "./checkpoint.ts";
import type { SigningKey, TrustedKey } from "./keys.ts";

export interface CheckpointOptions {
  readonly database: Pick<LedgerDatabase, "place" | "writers" | "lines">;
  readonly key: SigningKey;
  /** Keys before this one, whose checkpoints still count. */
  readonly trusted: readonly TrustedKey[];
  /** Where checkpoints are exported to. */
  readonly directory: string;
  readonly createdBy: string;
  readonly nowMs: number;
  readonly signal?: AbortSignal;
}

export type CheckpointOutcome =
  | { readonly kind: "written"; readonly file: string; readonly writers: number }
  /** The newest checkpoint in the directory has the same heads. */
  | { readonly kind: "unchanged"; readonly file: string }
  /** The database does not lead to the newest checkpoint, or a chain is broken. Nothing was signed. */
  | { readonly kind: "refused"; readonly problems: readonly ChainProblem[] };

/**
 * Signs the heads of all chains in the database and exports them. Every row since the newest checkpoint in the directory
 * is recomputed before, so that no signature covers a chain that is broken or that was rewritten since.
 */
export async function makeCheckpoint(options: CheckpointOptions): Promise<CheckpointOutcome> {
  const { database, key, trusted, directory, createdBy, nowMs } = options;
  await makeDirectory(directory);
  const newest = await newestCheckpoint(directory, [key, ...trusted]);
  const { heads, problems } = await recomputedHeads(database, newest?.checkpoint.heads ?? {}, options.signal);
  if (problems.length > 0) return { kind: "refused", problems };
  if (newest && isSame(heads, newest.checkpoint.heads)) return { kind: "unchanged", file: newest.file };

  const createdAt = new Date(nowMs).toISOString();
  // Times sort as they passed; the name of the writer keeps processes apart that write in the same millisecond.
  const file = join(directory, `checkpoint-${createdAt.replace(/[-:.]/g, "")}-${createdBy}.json`);
  await createDurably(file, signCheckpoint({ createdAt, createdBy, heads }, key));
  return { kind: "written", file, writers: Object.keys(heads).length };
}

/** The newest file in the directory that a trusted key has signed. Others are passed over: they prove nothing. */
async function newestCheckpoint(directory: string, trusted: readonly TrustedKey[]) {
  const names = (await readdir(directory)).filter((name) => /^checkpoint-\w+-[\w-]+\.json$/.test(name)).sort();
  for (const name of names.reverse()) {
    const file = join(directory, name);
    const reading = readCheckpoint(await readFile(file, "utf8"), trusted);
    if (reading.kind === "checkpoint") return { file, checkpoint: reading.checkpoint };
  }
  return undefined;
}

/** The heads of all chains in the database, each recomputed from `known` on. */
async function recomputedHeads(
  database: CheckpointOptions["database"],
  known: Checkpoint["heads"],
  signal?: AbortSignal,
): Promise<{ readonly heads: Record<string, Head>; readonly problems: readonly ChainProblem[] }> {
  const heads: Record<string, Head> = {};
  const problems: ChainProblem[] = [];
  for (const writer of new Set([...(await database.writers()), ...Object.keys(known)])) {
    const from = known[writer];
    if (from && (await hashAt(database, writer, from.seq)) !== from.hash) {
      const message = `row ${from.seq} of writer ${writer} is not the one in the newest checkpoint`;
      problems.push({ kind: "changed", file: `${database.place}, writer ${writer}`, line: from.seq, message });
      continue;
    }
    let head = from;
    for await (const item of databaseChain(database, writer, from ?? { seq: 0, hash: noHash })) {
      signal?.throwIfAborted();
      if (item.kind === "problem") problems.push(item.problem);
      if (item.kind === "row") head = { seq: item.row.seq, hash: item.row.hash };
    }
    if (head) heads[writer] = head;
  }
  return { heads, problems };
}

/** The hash of the row before it may be unknown; that of the row itself is recomputed. */
async function hashAt(database: CheckpointOptions["database"], writer: string, seq: number) {
  for await (const item of databaseChain(database, writer, { seq: seq - 1, hash: undefined })) {
    return item.kind === "row" && item.row.seq === seq ? item.row.hash : undefined;
  }
  return undefined;
}

function isSame(one: Checkpoint["heads"], other: Checkpoint["heads"]): boolean {
  const writers = Object.keys(one);
  if (writers.length !== Object.keys(other).length) return false;
  return writers.every((writer) => one[writer]?.hash === other[writer]?.hash);
}
