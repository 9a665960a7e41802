import type { FencedPush, FencedPushOutcome } from "../../coordination/index.ts";

/**
 * Port: git, for one agent process. It keeps a bare copy of each repository, so a task fetches only new objects. Tokens
 * are passed to git by environment: they are in no URL, file or command line. Rejects with a `RemoteError`, or with the
 * signal's reason.
 */
export interface Workshop {
  /** Returns the head of the branch on the server; undefined if there is none. */
  branchHead(repository: Repository, branch: string, signal: AbortSignal): Promise<string | undefined>;
  /** Fetches the commit, by its hash or, if the server does not allow that, by a ref that contains it. */
  fetchCommit(repository: Repository, sha: string, ref: string, signal: AbortSignal): Promise<void>;
  /**
   * Returns the commit of the branch, at `head` or somewhat below, whose message has the trailer `Interlock-Task: <uid>`.
   * Any replica may have pushed it for this task.
   */
  findTask(repository: Repository, head: string, taskUid: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Creates a folder with the files of the commit, and a `.git` with this commit and no remote. That `.git` is never
   * read again. The folder is removed on disposal.
   */
  checkout(repository: Repository, sha: string, signal: AbortSignal): Promise<WorkTree>;
  /** Returns the change of the folder against its commit, with all settings of the folder ignored. */
  createPatch(tree: WorkTree, limits: PatchLimits, signal: AbortSignal): Promise<PatchReading>;
  /**
   * Creates a commit of the patch on top of `parent`, without hooks, filters or a work tree. `conflict`: the patch does
   * not apply.
   */
  commit(repository: Repository, draft: CommitDraft, signal: AbortSignal): Promise<CommitOutcome>;
  /**
   * Moves the branch under the lock; see `fencedPush`. If the server refuses fence refs, a late push fails only if the
   * branch has moved; otherwise `findTask` recognises it.
   */
  push(repository: Repository, order: PushOrder, signal: AbortSignal): Promise<FencedPushOutcome>;
}

export interface Repository {
  readonly projectId: number;
  /** Without credentials. */
  readonly cloneUrl: string;
}

export interface WorkTree extends AsyncDisposable {
  readonly directory: string;
  readonly sha: string;
}

export interface PatchLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
  /** Paths that must not change, as gitignore patterns: `.gitlab-ci.yml`, `CODEOWNERS`. */
  readonly protectedPaths: readonly string[];
}

/** `refused`: the message names the change that is not allowed, and the fix. */
export type PatchReading =
  | { readonly kind: "patch"; readonly patch: Patch }
  | { readonly kind: "nothing" }
  | { readonly kind: "refused"; readonly reason: PatchRefusal; readonly message: string };

export const patchRefusals = [
  "TooLarge",
  "TooManyFiles",
  "ProtectedPath",
  "Symlink",
  "Submodule",
  "BadPath",
  "BadMode",
  /** A patch that was made elsewhere is not one that git writes. */
  "Unreadable",
  /** It adds a secret, or text in the format of a key. */
  "Secret",
] as const;
export type PatchRefusal = (typeof patchRefusals)[number];

/** A checked change. */
export interface Patch {
  /** The parent commit. */
  readonly base: string;
  /** In the format of `git diff --binary`. */
  readonly bytes: Uint8Array;
  readonly files: readonly string[];
}

export interface CommitDraft {
  readonly parent: string;
  readonly patch: Patch;
  /** The complete message, with trailers. */
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  /** Fixed, so the same draft results in the same commit. */
  readonly atSeconds: number;
}

export type CommitOutcome =
  | { readonly kind: "committed"; readonly sha: string }
  | { readonly kind: "conflict"; readonly files: readonly string[] };

export type PushOrder = Pick<FencedPush, "branch" | "expectedSha" | "commit" | "lease">;
