import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type DiffFile, readDiff } from "./diff.ts";
import { GitFailure, git } from "./git.ts";

export interface CommitInfo {
  readonly sha: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly authorName: string;
  readonly authorEmail: string;
  readonly atMs: number;
}

/** The changes of a commit by path: text or bytes to write, or another change. */
export interface FileChanges {
  readonly [path: string]: string | Buffer | { delete: true } | { renameTo: string } | { symlinkTo: string };
}

export interface NewCommit {
  readonly branch: string;
  /** Undefined: the current head of the branch. */
  readonly from: string | undefined;
  readonly files: FileChanges;
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly atMs: number;
}

/** A bare repository. Results that depend only on commits are cached. */
export class Repository {
  readonly directory: string;
  #diffs = new Map<string, Promise<readonly DiffFile[]>>();
  #commits = new Map<string, CommitInfo>();
  #mergeBases = new Map<string, Promise<string | undefined>>();
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(directory: string) {
    this.directory = directory;
  }

  /** The hash of a commit that a branch, tag or hash names. */
  async resolve(name: string): Promise<string | undefined> {
    if (name.startsWith("-")) return undefined;
    return this.#maybe(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]);
  }

  mergeBase(one: string, other: string): Promise<string | undefined> {
    return once(this.#mergeBases, `${one} ${other}`, () => this.#maybe(["merge-base", one, other]));
  }

  /** The differences between two commits, as GitLab displays them. */
  diff(from: string, to: string): Promise<readonly DiffFile[]> {
    return once(this.#diffs, `${from} ${to}`, () => readDiff(this.directory, from, to, 3));
  }

  /** The same with every line of the files, for finding lines that are not near a change. */
  wholeDiff(from: string, to: string): Promise<readonly DiffFile[]> {
    return once(this.#diffs, `whole ${from} ${to}`, () => readDiff(this.directory, from, to, 10_000_000));
  }

  async rawDiff(from: string, to: string): Promise<string> {
    return (await git(this.directory, ["diff", "--no-color", "--no-ext-diff", "-M", from, to])).toString();
  }

  async commit(sha: string): Promise<CommitInfo> {
    const [commit] = this.#commits.has(sha) ? [] : await this.log(sha, ["--max-count=1"]);
    if (commit) this.#commits.set(sha, commit);
    return this.#commits.get(sha) as CommitInfo;
  }

  /** Newest first. */
  async log(range: string, options: readonly string[] = []): Promise<CommitInfo[]> {
    const format = "--format=%H%x00%P%x00%an%x00%ae%x00%at%x00%B%x01";
    const out = await git(this.directory, ["log", format, ...options, range, "--"]);
    const records = out.toString().split("\x01\n").filter(Boolean);
    return records.map((record) => {
      const [sha = "", parents = "", authorName = "", authorEmail = "", seconds = "0", message = ""] =
        record.split("\0");
      const atMs = Number(seconds) * 1000;
      return { sha, parents: parents.split(" ").filter(Boolean), authorName, authorEmail, atMs, message };
    });
  }

  /** A file's bytes at a commit. */
  async file(sha: string, path: string): Promise<Buffer | undefined> {
    try {
      return await git(this.directory, ["cat-file", "blob", `${sha}:${path}`]);
    } catch (error) {
      if (error instanceof GitFailure) return undefined;
      throw error;
    }
  }

  /** Puts a commit on a branch, making the branch if need be; rejects if another push has moved it, unless forced. */
  async add(commit: NewCommit, { isForced }: { isForced: boolean }): Promise<string> {
    const [sha = ""] = await this.#import([commit], isForced ? ["--force"] : []);
    return sha;
  }

  /** The commits of new branches, all at once: `from` may be the place of one in the list, `:1` for the first. */
  addAll(commits: readonly NewCommit[]): Promise<string[]> {
    return this.#import(commits, []);
  }

  #import(commits: readonly NewCommit[], options: readonly string[]): Promise<string[]> {
    return this.#inTurn(async () => {
      const stream = Buffer.concat(commits.flatMap((commit, at) => importStream(commit, at + 1)));
      const out = await git(this.directory, ["fast-import", "--quiet", ...options], stream);
      const shas = out.toString().trim().split("\n");
      for (const [at, commit] of commits.entries()) this.#remember(shas, at, commit);
      return shas;
    });
  }

  #remember(shas: readonly string[], at: number, { from, author, message, atMs }: NewCommit): void {
    const sha = shas[at] ?? "";
    const [, place] = /^:(\d+)$/.exec(from ?? "") ?? [];
    const parent = place === undefined ? from : shas[Number(place) - 1];
    this.#commits.set(sha, {
      sha,
      parents: parent === undefined ? [] : [parent],
      message,
      authorName: author.name,
      authorEmail: author.email,
      atMs: Math.floor(atMs / 1000) * 1000,
    });
  }

  /** The merge of two commits that do not contradict each other. */
  async merge(into: string, from: string, message: string): Promise<string | undefined> {
    const tree = await this.#maybe(["merge-tree", "--write-tree", into, from]);
    if (tree === undefined) return undefined;
    const person = ["-c", "user.name=GitLab", "-c", "user.email=gitlab@example.com"];
    const made = await git(this.directory, [...person, "commit-tree", tree, "-p", into, "-p", from, "-m", message]);
    return made.toString().trim();
  }

  async setRef(ref: string, sha: string): Promise<void> {
    await this.#inTurn(() => git(this.directory, ["update-ref", ref, sha]));
  }

  /** A ref without other writers: without git's help, which takes a process each time. */
  async setOwnRef(ref: string, sha: string): Promise<void> {
    const file = join(this.directory, ref);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}.new`, `${sha}\n`);
    await rename(`${file}.new`, file);
  }

  async deleteRef(ref: string): Promise<void> {
    await this.#inTurn(() => git(this.directory, ["update-ref", "-d", ref]));
  }

  /** Brings a commit of another repository here. */
  async fetch(from: Repository, sha: string): Promise<void> {
    await git(this.directory, ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", from.directory, sha]);
  }

  async #maybe(args: readonly string[]): Promise<string | undefined> {
    try {
      return (await git(this.directory, args)).toString().trim();
    } catch (error) {
      if (error instanceof GitFailure) return undefined;
      throw error;
    }
  }

  #inTurn<T>(write: () => Promise<T>): Promise<T> {
    const result = this.#lastWrite.then(write);
    this.#lastWrite = result.catch(() => {});
    return result;
  }
}

function once<T>(kept: Map<string, Promise<T>>, key: string, compute: () => Promise<T>): Promise<T> {
  const known = kept.get(key) ?? compute();
  kept.set(key, known);
  return known;
}

function importStream({ branch, from, files, message, author, atMs }: NewCommit, mark: number): Buffer[] {
  const seconds = Math.floor(atMs / 1000);
  const parts: (string | Buffer)[] = [
    `commit refs/heads/${branch}\nmark :${mark}\n`,
    `committer ${author.name} <${author.email}> ${seconds} +0000\n`,
    ...data(Buffer.from(message)),
    from === undefined ? "" : `from ${from}\n`,
  ];
  for (const [path, change] of Object.entries(files)) parts.push(...fileCommand(path, change));
  parts.push(`\nget-mark :${mark}\n`);
  return parts.map((part) => Buffer.from(part));
}

function fileCommand(path: string, change: FileChanges[string]): (string | Buffer)[] {
  const name = quoted(path);
  if (typeof change === "string") return [`M 100644 inline ${name}\n`, ...data(Buffer.from(change))];
  if (Buffer.isBuffer(change)) return [`M 100644 inline ${name}\n`, ...data(change)];
  if ("delete" in change) return [`D ${name}\n`];
  if ("renameTo" in change) return [`R ${name} ${quoted(change.renameTo)}\n`];
  return [`M 120000 inline ${name}\n`, ...data(Buffer.from(change.symlinkTo))];
}

function data(bytes: Buffer): (string | Buffer)[] {
  return [`data ${bytes.length}\n`, bytes, "\n"];
}

function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
