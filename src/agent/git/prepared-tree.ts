import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HardenedGitOptions } from "../../process/index.ts";
import { fetchCommit, makeCache } from "./cache.ts";
import { type Checkout, checkOut } from "./checkout.ts";
import { readPatch } from "./read-patch.ts";
import { openGit } from "./run-git.ts";
import { checkAddress, type GitServer, gitOnServer, gitProtocols } from "./server.ts";
import type { PatchLimits, PatchReading, Repository } from "./workshop.ts";

/**
 * The location of a work tree that one process prepares and another reads: the files in `place/files`, all else is
 * ours.
 */
export interface PreparedTreeOptions extends Omit<HardenedGitOptions, "home" | "protocols"> {
  readonly directory: string;
  readonly signal: AbortSignal;
}

export interface TreeOrder {
  readonly repository: Repository;
  readonly sha: string;
  readonly ref: string;
}

/** Fetches a commit and writes its files, once. */
export async function prepareTree(order: TreeOrder, server: GitServer, options: PreparedTreeOptions): Promise<void> {
  const { directory, signal } = options;
  const { repository, sha, ref } = order;
  checkAddress(repository, server);
  const git = await gitIn(options, gitProtocols(server));
  const cache = await makeCache(join(directory, "cache"), git);
  await fetchCommit({ git: gitOnServer(git, server), cache, repository, signal }, sha, ref);
  const checkout = await checkOut({ git, cache: cache.directory, sha, folder: join(directory, "place"), signal });
  await writeFile(join(directory, "checkout.json"), JSON.stringify(checkout));
}

/** Returns the change of the files since then. */
export async function createPreparedPatch(limits: PatchLimits, options: PreparedTreeOptions): Promise<PatchReading> {
  const checkout = JSON.parse(await readFile(join(options.directory, "checkout.json"), "utf8")) as Checkout;
  return await readPatch({ git: await gitIn(options, []), checkout, limits, signal: options.signal });
}

async function gitIn(options: PreparedTreeOptions, protocols: HardenedGitOptions["protocols"]) {
  const home = join(options.directory, "home");
  await mkdir(home, { recursive: true });
  return openGit({ ...options, home, protocols });
}
