import type { PatchReading, Repository } from "../git/workshop.ts";

/**
 * Port: the coding agent itself, any command that reads a request, looks at a work tree and, unless it reviews, edits
 * it. Nothing that it leaves behind is trusted: what it changed is read from the files, what it says is checked.
 */
export interface Coder {
  /** Rejects with the signal's reason when it aborts; by then nothing of the agent runs any more. */
  run(order: CoderOrder, signal: AbortSignal): Promise<CoderOutcome>;
}

export interface CoderOrder {
  /** Uid of the task: the same for every try. */
  readonly taskUid: string;
  readonly request: CoderRequest;
  readonly repository: Repository;
  /** The commit that it works on, in a folder of its own whose `.git` knows no remote. */
  readonly sha: string;
  /** A ref of the server that the commit is on. */
  readonly ref: string;
}

/** What the agent is asked, as JSON on its standard input. Everything that people wrote is marked as such by its field. */
export type CoderRequest = ReviewRequest | EditRequest;

interface RequestOfAll {
  /** Grows when fields change their meaning. */
  readonly version: 1;
  readonly project: { readonly path: string; readonly url: string };
}

export interface ReviewRequest extends RequestOfAll {
  readonly kind: "review";
  readonly mergeRequest: MergeRequestText;
  readonly baseSha: string;
  readonly headSha: string;
  /** What it changes, as unified diffs. */
  readonly changes: readonly { readonly path: string; readonly diff: string }[];
  /** What we said before and nobody resolved: no need to say it again. */
  readonly earlierFindings: readonly string[];
}

export interface EditRequest extends RequestOfAll {
  readonly kind: "edit";
  /** What a person wants, in their words. */
  readonly instruction: string;
  readonly mergeRequest?: MergeRequestText;
  /** What was said in the thread before, oldest first. */
  readonly thread?: readonly { readonly author: string; readonly text: string }[];
  readonly issue?: { readonly key: string; readonly summary: string; readonly description: string };
}

export interface MergeRequestText {
  readonly title: string;
  readonly description: string;
  readonly sourceBranch: string;
  readonly targetBranch: string;
}

/** `failed`: it did not do what it was asked. `retry` says whether it may be worth another try. */
export type CoderOutcome =
  | { readonly kind: "reviewed"; readonly summary: string; readonly findings: readonly Finding[] }
  | {
      readonly kind: "edited";
      readonly summary: string;
      readonly commitMessage?: string;
      readonly change: PatchReading;
    }
  | { readonly kind: "failed"; readonly reason: CoderFailure; readonly message: string; readonly retry: boolean };

export type CoderFailure =
  | "Timeout"
  | "OOMKilled"
  /** By a signal that was not ours, or with its pod. */
  | "Killed"
  | "OutputTooLarge"
  | "WorkTreeTooLarge"
  | "ExitCode"
  | "NotStarted"
  | "BadAnswer";

export interface Finding {
  readonly path: string;
  readonly line: number;
  /** Of which side of the change the line number is. A line that is gone has an old number alone. */
  readonly side: "new" | "old";
  readonly severity: "error" | "warning" | "info";
  readonly message: string;
  /** The lines that should stand there instead. */
  readonly suggestion?: string;
}
