import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fencedPush, isCoordinationError } from "../../coordination/index.ts";
import type { Git, GitEnvironment, GitOptions } from "../../process/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Clock, Random } from "../../time/index.ts";
import { type Cache, fetchCommit, fetchHistory, makeCache, runInTurn } from "./cache.ts";
import { type Checkout, checkOut } from "./checkout.ts";
import { makeCommit } from "./make-commit.ts";
import { ownFolder, removeFolder } from "./own-folder.ts";
import { readPatch } from "./read-patch.ts";
import { remoteFailure } from "./remote-failure.ts";
import { expectOutput, openGit } from "./run-git.ts";
import { checkAddress, type GitServer, gitOnServer, gitProtocols } from "./server.ts";
import type { Repository, Workshop } from "./workshop.ts";

export interface GitWorkshopOptions {
  /** The folder for repositories and work trees; several processes may share it. */
  readonly directory: string;
  readonly server: GitServer;
  /** The maximum time of one run of git. */
  readonly timeLimitMs: number;
  readonly env: GitEnvironment;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** A workshop that uses the git of this machine. Its folder is deleted on disposal, or when the next process starts. */
export async function gitWorkshop(options: GitWorkshopOptions): Promise<Workshop & AsyncDisposable> {
  const { server, random, log } = options;
  const folder = await ownFolder(options.directory, random);
  const home = join(folder.path, "home");
  await mkdir(home);
  const git = openGit({ ...options, home, protocols: gitProtocols(server) });
  const remoteGit = gitOnServer(git, server);
  const openCache = cacheOpener(folder.path, git, server);
  const checkouts = new Map<string, Checkout>();
  const warnUnfenced = unfencedWarning(log);
  const newPath = (kind: string) => join(folder.path, kind, random.id());

  return {
    async branchHead(repository, branch, signal) {
      checkAddress(repository, server);
      return readBranchHead(remoteGit, { url: repository.cloneUrl, branch }, { cwd: home, signal });
    },

    async fetchCommit(repository, sha, ref, signal) {
      checkSha(sha);
      checkRef(ref);
      await fetchCommit({ git: remoteGit, cache: await openCache(repository), repository, signal }, sha, ref);
    },

    async findTask(repository, head, taskUid, signal) {
      checkSha(head);
      checkAddress(repository, server);
      const path = newPath("histories");
      try {
        const cache = await makeCache(path, git);
        await fetchHistory({ git: remoteGit, cache, repository, signal }, head, searchDepth);
        return await findCommitOfTask(git, { head, taskUid }, { cwd: path, signal });
      } finally {
        await removeFolder(path);
      }
    },

    async checkout(repository, sha, signal) {
      checkSha(sha);
      const path = newPath("trees");
      const { directory: cache } = await openCache(repository);
      const checkout = await checkOut({ git, cache, sha, folder: path, signal }).catch(async (error) => {
        await removeFolder(path);
        throw error;
      });
      const { directory } = checkout;
      checkouts.set(directory, checkout);
      return {
        directory,
        sha,
        async [Symbol.asyncDispose]() {
          checkouts.delete(directory);
          await removeFolder(path);
        },
      };
    },

    async createPatch({ directory }, limits, signal) {
      const checkout = checkouts.get(directory);
      if (!checkout) throw new TypeError(`not a work tree of this workshop: ${directory}`);
      return await readPatch({ git, checkout, limits, signal });
    },

    async commit(repository, draft, signal) {
      checkSha(draft.parent);
      const { directory: cache } = await openCache(repository);
      return await makeCommit({ git, cache, draft, folder: newPath("commits"), signal });
    },

    async push(repository, { branch, expectedSha, commit, lease }, signal) {
      const cache = await openCache(repository);
      const order = { workTree: cache.directory, remote: repository.cloneUrl, branch, expectedSha, commit, lease };
      const withoutFence = () => warnUnfenced(repository);
      const pushing = runInTurn(cache, signal, () => fencedPush({ ...order, git: remoteGit, signal, withoutFence }));
      return await pushing.catch(throwRemoteError);
    },

    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

type OpenCache = (repository: Repository) => Promise<Cache>;

/** Creates each cache once; after a failure it is created again. */
function cacheOpener(directory: string, git: Git, server: GitServer): OpenCache {
  const caches = new Map<string, Promise<Cache>>();
  return (repository) => {
    checkAddress(repository, server);
    const { cloneUrl, projectId } = repository;
    const cached = caches.get(cloneUrl) ?? makeCache(join(directory, "cache", `${projectId}-${caches.size}`), git);
    caches.set(cloneUrl, cached);
    cached.catch(() => caches.delete(cloneUrl));
    return cached;
  };
}

/** Logs once per project: the refusal lasts until an administrator changes GitLab's rules. */
function unfencedWarning(log: Logger): (repository: Repository) => void {
  const warned = new Set<number>();
  return ({ projectId }) => {
    if (warned.has(projectId)) return;
    warned.add(projectId);
    log.warn("fence ref refused", {
      projectId,
      meaning: "a late push fails only if its branch has moved; otherwise its commit is found by its trailer",
    });
  };
}

async function readBranchHead(
  git: Git,
  { url, branch }: { readonly url: string; readonly branch: string },
  call: GitOptions,
): Promise<string | undefined> {
  const ref = `refs/heads/${branch}`;
  const { code, stdout, stderr } = await git(["ls-remote", "--", url, ref], call);
  if (code !== 0) throw remoteFailure("ls-remote", stderr);
  const lines = stdout.toString().split("\n");
  return lines.find((line) => line.endsWith(`\t${ref}`))?.split("\t")[0];
}

/** How far back our own commit is searched. Other users never push more while one task is worked on. */
const searchDepth = 200;

/** The commit whose trailer names the task, in a history that was fetched. */
async function findCommitOfTask(
  git: Git,
  { head, taskUid }: { readonly head: string; readonly taskUid: string },
  call: GitOptions,
): Promise<string | undefined> {
  const format = "--format=%H %(trailers:key=Interlock-Task,valueonly,separator=%x20)";
  const args = ["log", `--max-count=${searchDepth}`, format, "--end-of-options", head];
  const lines = (await expectOutput("log", git(args, call))).toString().split("\n");
  return lines.find((line) => line.split(" ").slice(1).includes(taskUid))?.split(" ")[0];
}

function checkSha(sha: string): void {
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(sha)) throw new TypeError(`not a full sha: ${JSON.stringify(sha)}`);
}

function checkRef(ref: string): void {
  if (!/^refs\/[^\s:?*[\\^~+]+$/.test(ref)) throw new TypeError(`not a full ref: ${JSON.stringify(ref)}`);
}

function throwRemoteError(error: unknown): never {
  if (!isCoordinationError(error, "unavailable")) throw error;
  throw remoteFailure("push", error.message.replace(/^git [\w-]+ failed: /, ""));
}
