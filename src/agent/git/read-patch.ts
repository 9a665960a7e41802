import { copyFile, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Git } from "../../process/index.ts";
import { type Checkout, ownEnvironment } from "./checkout.ts";
import { type FolderEntry, folderReader } from "./folder-files.ts";
import { expectOutput } from "./run-git.ts";
import {
  checkPath,
  findViolation,
  quotePath,
  type Refused,
  refuse,
  refuseCount,
  refuseSize,
  treeChanges,
} from "./tree-change.ts";
import type { PatchLimits, PatchReading } from "./workshop.ts";

export interface PatchOrder {
  readonly git: Git;
  readonly checkout: Checkout;
  readonly limits: PatchLimits;
  readonly signal: AbortSignal;
}

/** A diff is usually smaller than its files, within limits: this many bytes of files are read per byte of a patch. */
const filesPerPatchByte = 20;
/** The maximum size of a list of changed names. */
const maxListBytes = 32 * 1024 * 1024;

/** Returns the change in the folder. Git reads the files as bytes: their attributes and settings are ignored. */
export async function readPatch(order: PatchOrder): Promise<PatchReading> {
  await copyIndex(order.checkout);
  const found = (await submoduleProblem(order)) ?? (await pipeProblem(order)) ?? (await changedPaths(order));
  if ("kind" in found) return found;
  if (found.length === 0) return { kind: "nothing" };
  const entries = await readEntries(order, found);
  if ("kind" in entries) return entries;

  const tree = await writeTree(order, entries);
  return typeof tree === "string" ? await diff(order, tree) : tree;
}

/** Our index stays unchanged, so the patch can be read again. */
async function copyIndex({ state }: Checkout): Promise<void> {
  const { atime, mtimeMs } = await stat(join(state, "index"));
  await copyFile(join(state, "index"), join(state, "patch-index"));
  // Git derives from the age of the index which files may have changed; a newer index would hide some.
  await utimes(join(state, "patch-index"), atime, new Date(Math.floor(mtimeMs)));
}

/** Git would run inside of a submodule that has become a repository, with the settings of that repository. */
async function submoduleProblem({ checkout }: PatchOrder): Promise<Refused | undefined> {
  const read = folderReader(checkout.directory);
  for (const path of checkout.submodules) {
    const isEmpty = (await read(path)).kind === "folder" && (await read(`${path}/.git`)).kind === "missing";
    if (!isEmpty) return refuse("Submodule", `${quotePath(path)} is a submodule and changed: leave it as it is`);
  }
  return undefined;
}

async function pipeProblem({ checkout, signal }: PatchOrder): Promise<Refused | undefined> {
  const path = await blockingFile(checkout.directory, signal);
  return path === undefined ? undefined : refuse("BadMode", `${quotePath(path)} is not a regular file: leave it out`);
}

async function changedPaths(order: PatchOrder): Promise<Refused | readonly string[]> {
  const args = ["ls-files", "-z", "--modified", "--others", "--exclude-standard"];
  const running = run(order, args, { maxBytes: maxListBytes });
  if ((await running).truncated) return refuseCount(order.limits);
  const names = (await expectOutput("ls-files", running)).toString().split("\0").filter(Boolean);

  const repository = names.find((name) => name.endsWith("/"));
  if (repository) return refuse("Submodule", `${quotePath(repository)} is a repository of its own: remove its .git`);
  const paths = [...new Set(names)];
  for (const path of paths) {
    const refusal = checkPath(path);
    if (refusal) return refusal;
  }
  return paths.length > order.limits.maxFiles ? refuseCount(order.limits) : paths;
}

type Entries = ReadonlyMap<string, FolderEntry>;

async function readEntries({ checkout, limits }: PatchOrder, paths: readonly string[]): Promise<Refused | Entries> {
  const read = folderReader(checkout.directory);
  const entries = new Map<string, FolderEntry>();
  let size = 0;
  for (const path of paths) {
    const entry = await read(path);
    if (entry.kind === "symlink") return refuse("Symlink", `${quotePath(path)} is a symbolic link: leave it out`);
    if (entry.kind === "other") return refuse("BadMode", `${quotePath(path)} is not a regular file: leave it out`);
    if (entry.kind === "file") size += entry.size;
    entries.set(path, entry);
  }
  return size > limits.maxBytes * filesPerPatchByte ? refuseSize(limits) : entries;
}

/** Writes the tree of the commit. Files are stored as their bytes: no filter, no line-end or encoding conversion. */
async function writeTree(order: PatchOrder, entries: Entries): Promise<Refused | string> {
  const files = [...entries].flatMap(([path, entry]) => (entry.kind === "file" ? [{ path, mode: entry.mode }] : []));
  const hashes = await hashFiles(order, files);
  if ("kind" in hashes) return hashes;

  const gone = [...entries].filter(([, { kind }]) => kind !== "file").map(([path]) => path);
  const zero = "0".repeat(order.checkout.sha.length);
  const lines = [
    // Removed paths come first: a file can replace a folder.
    ...gone.map((path) => `0 ${zero}\t${path}\0`),
    ...files.map(({ path, mode }, i) => `${mode} ${hashes[i]}\t${path}\0`),
  ];
  const update = run(order, ["update-index", "-z", "--index-info"], { input: lines.join("") });
  await expectOutput("update-index", update);
  return (await expectOutput("write-tree", run(order, ["write-tree"]))).toString().trim();
}

async function hashFiles(order: PatchOrder, files: readonly { path: string }[]): Promise<Refused | readonly string[]> {
  // A line that starts with a quote would be read as a quoted path.
  const input = files.map(({ path }) => `./${path}\n`).join("");
  const hashing = run(order, ["hash-object", "-w", "--no-filters", "--stdin-paths"], { input });
  const [, unreadable] = /could not open '\.\/(.*)' for reading/.exec((await hashing).stderr) ?? [];
  if (unreadable !== undefined) return refuse("BadMode", `${quotePath(unreadable)} cannot be read: leave it readable`);
  return (await expectOutput("hash-object", hashing)).toString().split("\n");
}

async function diff(order: PatchOrder, tree: string): Promise<PatchReading> {
  const { checkout, limits } = order;
  const changes = await treeChanges((args) => run(order, args), checkout.sha, tree);
  const refusal = findViolation(changes, limits);
  if (refusal) return refusal;
  if (changes.length === 0) return { kind: "nothing" };

  const file = join(checkout.state, "patch");
  const shape = ["--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"];
  const args = ["diff-tree", "-r", "-p", ...shape, "--src-prefix=a/", "--dst-prefix=b/", `--output=${file}`];
  await expectOutput("diff-tree", run(order, [...args, checkout.sha, tree]));
  try {
    if ((await stat(file)).size > limits.maxBytes) return refuseSize(limits);
    const bytes = await readFile(file);
    return { kind: "patch", patch: { base: checkout.sha, bytes, files: changes.map(({ path }) => path) } };
  } finally {
    await rm(file, { force: true });
  }
}

function run(
  { git, checkout, signal }: PatchOrder,
  args: readonly string[],
  options: { input?: string; maxBytes?: number } = {},
) {
  const env = { ...ownEnvironment(checkout), GIT_INDEX_FILE: join(checkout.state, "patch-index") };
  return git(args, { cwd: checkout.directory, env, signal, ...options });
}

/** Files that git opens in every folder. */
const opened = [".gitignore", ".gitattributes"];

/** Returns a pipe in place of a file that git opens, which would block git. */
async function blockingFile(root: string, signal: AbortSignal): Promise<string | undefined> {
  const open = [""];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    signal.throwIfAborted();
    for (const entry of await readdir(`${root}/${folder}`, { withFileTypes: true }).catch(() => [])) {
      const isOrdinary = entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
      if (opened.includes(entry.name.toLowerCase()) && !isOrdinary) return folder + entry.name;
      // Git does not read the `.git` of the work tree.
      if (entry.isDirectory() && entry.name !== ".git") open.push(`${folder}${entry.name}/`);
    }
  }
  return undefined;
}
