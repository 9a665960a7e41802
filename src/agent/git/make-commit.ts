import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Git, GitOptions } from "../../process/index.ts";
import { RemoteError } from "../remote-error.ts";
import { expectOutput } from "./run-git.ts";
import { findViolation, type TreeChange, treeChanges } from "./tree-change.ts";
import type { CommitDraft, CommitOutcome } from "./workshop.ts";

export interface CommitOrder {
  readonly git: Git;
  readonly cache: string;
  readonly draft: CommitDraft;
  /** A new folder for this commit alone. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

type GitRun = (args: readonly string[], options?: Partial<GitOptions>) => ReturnType<Git>;

/** Creates the commit from the patch and an index, without a work tree. */
export async function makeCommit({ git, cache, draft, folder, signal }: CommitOrder): Promise<CommitOutcome> {
  const env = { GIT_DIR: cache, GIT_INDEX_FILE: join(folder, "index") };
  const run: GitRun = (args, options) =>
    git(args, { cwd: folder, signal, ...options, env: { ...env, ...options?.env } });
  await mkdir(folder, { recursive: true });
  try {
    await expectOutput("read-tree", run(["read-tree", draft.parent]));
    const files = await applyPatch(run, draft);
    if (files) return { kind: "conflict", files };
    const tree = (await expectOutput("write-tree", run(["write-tree"]))).toString().trim();
    checkTree(await treeChanges(run, draft.parent, tree), draft);
    return { kind: "committed", sha: await commitTree(run, tree, draft) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Applies the patch to the index. Returns the conflicting files, if there are any. */
async function applyPatch(run: GitRun, { patch }: CommitDraft): Promise<readonly string[] | undefined> {
  const apply = ["apply", "--cached", "--3way", "--whitespace=nowarn", "--allow-empty", "-"];
  const { code, stderr } = await run(apply, { input: patch.bytes });
  const listed = (await expectOutput("ls-files", run(["ls-files", "--unmerged", "-z"]))).toString();
  const unmerged = listed
    .split("\0")
    .filter(Boolean)
    .map((line) => line.slice(line.indexOf("\t") + 1));
  if (unmerged.length > 0) return [...new Set(unmerged)];
  if (code === 0) return undefined;
  const named = patch.files.filter((file) => stderr.includes(file));
  return named.length > 0 ? named : patch.files;
}

/**
 * Our parser has checked the patch, but git interprets it. The resulting tree must have only the checked changes, or
 * the two disagree.
 */
function checkTree(changes: readonly TreeChange[], { patch }: CommitDraft): void {
  const expected = new Set(patch.files);
  const unexpected = changes.find(({ path }) => !expected.has(path));
  if (unexpected)
    throw new RemoteError(
      "refused",
      `the patch changes ${JSON.stringify(unexpected.path)}, which is not in its list of files`,
    );
  const refusal = findViolation(changes, { maxBytes: Infinity, maxFiles: Infinity, protectedPaths: [] });
  if (refusal) throw new RemoteError("refused", refusal.message);
}

async function commitTree(
  run: GitRun,
  tree: string,
  { parent, message, author, atSeconds }: CommitDraft,
): Promise<string> {
  const date = `@${atSeconds} +0000`;
  const { name, email } = author;
  const env = {
    ...{ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date },
    ...{ GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email, GIT_COMMITTER_DATE: date },
  };
  const made = run(["commit-tree", tree, "-p", parent, "-F", "-"], { input: message, env });
  return (await expectOutput("commit-tree", made)).toString().trim();
}
