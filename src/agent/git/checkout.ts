import { copyFile, mkdir, readlink, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import type { Git } from "../../process/index.ts";
import { expectOutput } from "./run-git.ts";

/** A work tree, and the state beside it from which its change is computed later. */
export interface Checkout {
  readonly directory: string;
  readonly sha: string;
  readonly cache: string;
  /** Index and new objects. */
  readonly state: string;
  /** Submodules of the commit: empty folders. */
  readonly submodules: readonly string[];
}

export interface CheckoutOrder {
  readonly git: Git;
  readonly cache: string;
  readonly sha: string;
  /** A new folder for this checkout alone. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** Enough for the list of all files of the largest repositories. */
const maxListBytes = 256 * 1024 * 1024;

export async function checkOut(order: CheckoutOrder): Promise<Checkout> {
  const { git, cache, sha, folder, signal } = order;
  await mkdir(join(folder, "files"), { recursive: true, mode: 0o700 });
  await mkdir(join(folder, "state", "objects"), { recursive: true, mode: 0o700 });
  // Links are checked by their targets, so the folder's own path must not contain a link.
  const directory = await realpath(join(folder, "files"));
  const checkout = { directory, sha, cache, state: join(folder, "state") };
  const run = (args: readonly string[], input?: string) =>
    expectOutput(
      args[0] ?? "",
      git(args, {
        cwd: directory,
        env: ownEnvironment(checkout),
        signal,
        maxBytes: maxListBytes,
        ...(input && { input }),
      }),
    );

  // Neither may continue in a folder that is about to be removed.
  const [files, objects] = await Promise.allSettled([writeFiles(), makeThrowawayGit(order, checkout)]);
  if (files.status === "rejected") throw files.reason;
  if (objects.status === "rejected") throw objects.reason;
  await copyFile(join(checkout.state, "index"), join(directory, ".git", "index"));
  return { ...checkout, submodules: files.value };

  /** Returns the paths of submodules. */
  async function writeFiles(): Promise<readonly string[]> {
    await run(["read-tree", sha]);
    await run(["checkout-index", "--all", "--force", "--index", "--quiet"]);
    const entries = parseEntries(await run(["ls-files", "--stage", "-z"]));
    await removeLinks(entries.filter(({ mode }) => mode === "120000").map(({ path }) => path));
    return entries.filter(({ mode }) => mode === "160000").map(({ path }) => path);
  }

  /** A link out of the folder would show files of this machine to the coder, and through it to others. */
  async function removeLinks(links: readonly string[]) {
    const outside: string[] = [];
    for (const link of links) if (await leadsOut(directory, link)) outside.push(link);
    if (outside.length === 0) return;
    for (const path of outside) await rm(join(directory, path), { force: true });
    await run(["update-index", "-z", "--skip-worktree", "--stdin"], outside.map((path) => `${path}\0`).join(""));
  }
}

/** Our repository and our index with the folder as work tree: the folder cannot change the behaviour of git. */
export function ownEnvironment({ cache, state, directory }: Omit<Checkout, "submodules">): Record<string, string> {
  return {
    GIT_DIR: cache,
    GIT_WORK_TREE: directory,
    GIT_INDEX_FILE: join(state, "index"),
    // Objects of the folder are deleted with it.
    GIT_OBJECT_DIRECTORY: join(state, "objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(cache, "objects"),
  };
}

function parseEntries(output: Buffer): { mode: string; path: string }[] {
  const lines = output.toString().split("\0").filter(Boolean);
  return lines.map((line) => ({ mode: line.slice(0, 6), path: line.slice(line.indexOf("\t") + 1) }));
}

/** A repository for the coder: this one commit, no remote, and no path to our repository. */
async function makeThrowawayGit(
  { git, cache, sha, signal }: CheckoutOrder,
  { directory, state }: Omit<Checkout, "submodules">,
) {
  const gitDirectory = join(directory, ".git");
  await expectOutput("init", git(["init", "--quiet", "--template=", directory], { cwd: state, signal }));
  const objects = await expectOutput(
    "rev-list",
    git(["rev-list", "--objects", "--no-walk", "--no-object-names", sha], {
      cwd: cache,
      signal,
      maxBytes: maxListBytes,
    }),
  );
  await mkdir(join(gitDirectory, "objects", "pack"), { recursive: true });
  const pack = join(gitDirectory, "objects", "pack", "pack");
  // Written into the new repository, which may be on another volume than ours: a complete pack is renamed.
  const env = { GIT_DIR: gitDirectory, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(cache, "objects") };
  const packing = git(["pack-objects", "--quiet", pack], { cwd: state, env, signal, input: objects });
  await expectOutput("pack-objects", packing);
  await writeFile(join(gitDirectory, "shallow"), `${sha}\n`);
  await writeFile(join(gitDirectory, "HEAD"), `${sha}\n`);
}

/** Whether a link leads, or may lead, out of the folder; `root` is its real path. */
async function leadsOut(root: string, link: string): Promise<boolean> {
  const target = await readlink(join(root, link));
  // `a/..` is the parent of `a` only if `a` is not a link.
  if (isAbsolute(target) || /[^/.][^/]*\/+\.\.(\/|$)/.test(target)) return true;
  if (normalize(join(dirname(link), target)).split("/")[0] === "..") return true;
  const real = await realpath(join(root, link)).catch(() => undefined);
  return real !== undefined && real !== root && !real.startsWith(`${root}/`);
}
