import type { Lease } from "../../coordination/index.ts";

/**
 * Port: git, for one agent process. It keeps a bare copy of each repository, so that a task fetches what is new and no
 * more. Tokens reach git by its environment alone: they are in no URL, no file, no command line. Rejects with a
 * `RemoteError`, or with the signal's reason.
 */
export interface Workshop {
  /** Where the branch stands on the server; undefined: there is none. */
  branchHead(repository: Repository, branch: string, signal: AbortSignal): Promise<string | undefined>;
  /** Brings the commit here, by its hash or, where the server does not give it away so, by the ref that it is on. */
  fetchCommit(repository: Repository, sha: string, ref: string, signal: AbortSignal): Promise<void>;
  /**
   * The commit of the branch, from `head` back through at most `depth`, whose message carries `Interlock-Task: <uid>`.
   * What it finds was pushed for this task, by whoever it was.
   */
  findTask(repository: Repository, search: TaskSearch, signal: AbortSignal): Promise<string | undefined>;
  /**
   * A folder of its own with the files of the commit, and a `.git` that knows this commit and no remote. What becomes of
   * that `.git` is not looked at again. Removed on disposal.
   */
  checkout(repository: Repository, sha: string, signal: AbortSignal): Promise<WorkTree>;
  /** What is different in the folder from the commit it was made of, as git sees it with none of the folder's settings. */
  patchOf(tree: WorkTree, limits: PatchLimits, signal: AbortSignal): Promise<PatchReading>;
  /** A commit of the patch on top of `parent`, made without hooks, filters or a work tree. `conflict`: it does not apply. */
  commit(repository: Repository, draft: CommitDraft, signal: AbortSignal): Promise<CommitOutcome>;
  /**
   * Moves the branch under the lock; see `fencedPush`. Where the server takes no fence, a late push fails only if the
   * branch has moved, and `findTask` recognises what it brought otherwise.
   */
  push(repository: Repository, order: PushOrder, signal: AbortSignal): Promise<PushOutcome>;
}

export interface Repository {
  readonly projectId: number;
  /** Without credentials. */
  readonly cloneUrl: string;
}

export interface TaskSearch {
  readonly head: string;
  readonly taskUid: string;
  readonly depth: number;
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

/** `refused`: a sentence that says which change is not allowed, and what to do. */
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
  /** It adds a secret, or what has the format of a key. */
  "Secret",
] as const;
export type PatchRefusal = (typeof patchRefusals)[number];

/** A change that was checked. */
export interface Patch {
  /** The commit it was made on. */
  readonly base: string;
  /** As `git diff --binary` writes it. */
  readonly bytes: Uint8Array;
  readonly files: readonly string[];
}

export interface CommitDraft {
  readonly parent: string;
  readonly patch: Patch;
  /** Complete, with its trailers. */
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  /** In seconds: the same draft is the same commit. */
  readonly atSeconds: number;
}

export type CommitOutcome =
  | { readonly kind: "committed"; readonly sha: string }
  | { readonly kind: "conflict"; readonly files: readonly string[] };

export interface PushOrder {
  readonly branch: string;
  /** Where it was when it was read under the lock; undefined: it was not there. */
  readonly expectedSha: string | undefined;
  readonly commit: string;
  readonly lease: Pick<Lease, "fence" | "holder" | "signal" | "assertHeld">;
}

/** `stale`: somebody else holds the lock by now; stop. `moved`: the branch is elsewhere; look again. */
export type PushOutcome =
  | { readonly kind: "pushed" }
  | { readonly kind: "stale" }
  | { readonly kind: "moved"; readonly sha: string | undefined };
