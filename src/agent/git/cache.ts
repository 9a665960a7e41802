import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Git } from "../../process/index.ts";
import { RemoteError } from "../remote-error.ts";
import { remoteFailure } from "./remote-failure.ts";
import { expectOutput } from "./run-git.ts";
import type { Repository } from "./workshop.ts";

/** A bare repository with the objects that were fetched from the server. */
export interface Cache {
  readonly directory: string;
  /** The fetched commits. A commit alone proves nothing: its files may be missing after a killed fetch. */
  readonly commits: Set<string>;
  /** Settles when no transfer with the server is running: transfers change the same files. */
  turn: Promise<unknown>;
}

/** The last fetched commit. Git offers the server the commits of refs, and gets only the objects that they lack. */
const lastFetched = "refs/interlock/last-fetched";

/** Disables the attributes of the repository: every file has the committed bytes. */
const noAttributes =
  "* -text !eol !crlf -ident !filter !working-tree-encoding !diff !merge !whitespace !conflict-marker-size\n";

export async function makeCache(directory: string, git: Git): Promise<Cache> {
  await mkdir(directory, { recursive: true });
  await expectOutput("init", git(["init", "--quiet", "--bare", "--template="], { cwd: directory }));
  await mkdir(join(directory, "info"), { recursive: true });
  await writeFile(join(directory, "info", "attributes"), noAttributes);
  return { directory, commits: new Set(), turn: Promise.resolve() };
}

export interface Fetching {
  readonly git: Git;
  readonly cache: Cache;
  readonly repository: Repository;
  readonly signal: AbortSignal;
}

const everything = 2 ** 31 - 1;

/** Fetches a commit, alone if the server allows a fetch by hash, else with as much history of the ref as needed. */
export async function fetchCommit(fetching: Fetching, sha: string, ref: string): Promise<void> {
  const { commits } = fetching.cache;
  if (commits.has(sha)) return;
  const failure = await fetchObjects(fetching, `+${sha}:${lastFetched}`, 1);
  if (failure && failure.kind !== "missing") throw failure;
  if (failure && !(await fetchByRef(fetching, sha, ref))) {
    throw new RemoteError("missing", `commit ${sha} is not on ${ref}; it may have been replaced by a force push`);
  }
  commits.add(sha);
}

async function fetchByRef(fetching: Fetching, sha: string, ref: string): Promise<boolean> {
  for (const depth of [100, everything]) {
    const failure = await fetchObjects(fetching, `+${ref}:${lastFetched}`, depth);
    if (failure) throw failure;
    if (await hasCommit(fetching, sha)) return true;
  }
  return false;
}

/** Runs `work` after earlier callers are done. A caller whose signal aborts stops waiting. */
export async function runInTurn<T>(cache: Cache, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const before = cache.turn;
  let end = () => {};
  const ours = new Promise<void>((resolve) => {
    end = resolve;
  });
  cache.turn = before.then(() => ours);
  try {
    await waitUnlessAborted(before, signal);
    return await work();
  } finally {
    end();
  }
}

function waitUnlessAborted(waiting: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    const proceed = () => {
      signal.removeEventListener("abort", stop);
      resolve();
    };
    waiting.then(proceed, proceed);
  });
}

/**
 * Fetches the commit and its history up to `depth`, without files if the server supports that. It needs a cache of its
 * own, for this fetch alone: where commits have no files, git assumes that the files are elsewhere, and it keeps a pack of every
 * such fetch.
 */
export async function fetchHistory(fetching: Fetching, sha: string, depth: number): Promise<void> {
  const failure = await fetchObjects(fetching, sha, depth, ["--filter=tree:0"]);
  if (failure) throw failure;
}

async function hasCommit({ git, cache, signal }: Fetching, sha: string): Promise<boolean> {
  const { code } = await git(["cat-file", "-e", `${sha}^{commit}`], { cwd: cache.directory, signal });
  return code === 0;
}

async function fetchObjects(
  { git, cache, repository, signal }: Fetching,
  refspec: string,
  depth: number,
  more: string[] = [],
) {
  const options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance"];
  const args = ["fetch", ...options, "--refmap=", ...more, `--depth=${depth}`, "--", repository.cloneUrl, refspec];
  const { code, stderr } = await runInTurn(cache, signal, async () => {
    await removeLeftovers(cache);
    return git(args, { cwd: cache.directory, signal });
  });
  return code === 0 ? undefined : remoteFailure("fetch", stderr);
}

/**
 * A fetch that was killed, at its time limit or because its task was cancelled, leaves its locks, with which every later
 * fetch fails, and the received part of a pack.
 */
async function removeLeftovers({ directory }: Cache): Promise<void> {
  for (const locked of ["shallow", lastFetched]) await rm(join(directory, `${locked}.lock`), { force: true });
  const packs = join(directory, "objects", "pack");
  for (const name of await readdir(packs)) {
    if (name.startsWith("tmp_")) await rm(join(packs, name), { force: true });
  }
}
