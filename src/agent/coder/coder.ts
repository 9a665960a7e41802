import type { PatchReading, Repository } from "../git/workshop.ts";

/**
 * Port: the coder, any command that reads a request, looks at a work tree and, unless it reviews, edits it. Its results
 * are not trusted: the change is read from the files, and its output is validated.
 */
export interface Coder {
  /**
   * Rejects with the signal's reason when it aborts. By then no process of the coder is running, unless the lock was lost and the
   * next holder can adopt the run.
   */
  run(order: CoderOrder, signal: AbortSignal): Promise<CoderOutcome>;
}

export interface CoderOrder {
  /** Uid of the task: the same for every attempt. */
  readonly taskUid: string;
  readonly request: CoderRequest;
  readonly repository: Repository;
  /** The commit in the work tree, whose `.git` has no remote. */
  readonly sha: string;
  /** A ref of the server that contains the commit. */
  readonly ref: string;
}

/** The request to the coder, as JSON on its standard input. Texts of people are in fields of their own. */
export type CoderRequest = ReviewRequest | EditRequest;

interface RequestOfAll {
  /** Increases when a field changes its meaning. */
  readonly version: 1;
  readonly project: { readonly path: string; readonly url: string };
}

export interface ReviewRequest extends RequestOfAll {
  readonly kind: "review";
  readonly mergeRequest: MergeRequestText;
  readonly baseSha: string;
  readonly headSha: string;
  /** Unified diffs of the merge request. */
  readonly changes: readonly { readonly path: string; readonly diff: string }[];
  /** Unresolved findings of earlier reviews, which need not be repeated. */
  readonly earlierFindings: readonly string[];
}

export interface EditRequest extends RequestOfAll {
  readonly kind: "edit";
  /** The instruction in the words of a person. */
  readonly instruction: string;
  readonly mergeRequest?: MergeRequestText;
  /** The earlier notes of the thread, oldest first. */
  readonly thread?: readonly { readonly author: string; readonly text: string }[];
  readonly issue?: { readonly key: string; readonly summary: string; readonly description: string };
}

export interface MergeRequestText {
  readonly title: string;
  readonly description: string;
  readonly sourceBranch: string;
  readonly targetBranch: string;
}

/** `failed`: the coder did not complete the request. `retry`: whether another attempt may succeed. */
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
  /** By a signal that was not ours, or together with its pod. */
  | "Killed"
  | "OutputTooLarge"
  | "WorkTreeTooLarge"
  | "ExitCode"
  | "NotStarted"
  | "BadAnswer";

export interface Finding {
  readonly path: string;
  readonly line: number;
  /** The side of the change that the line number refers to. A removed line has only an old number. */
  readonly side: "new" | "old";
  readonly severity: "error" | "warning" | "info";
  readonly message: string;
  /** The replacement for the line. */
  readonly suggestion?: string;
}

/** The placeholders of `agent.command`. */
interface CommandPaths {
  /** The folder with the files, which is also the working directory. */
  readonly workTree: string;
  /** A file with the request, which is also on standard input. */
  readonly requestFile: string;
}

/** Returns the command with `{workTree}` and `{requestFile}` filled in. No shell interprets the arguments. */
export function fillCommand(command: readonly string[], paths: CommandPaths): readonly string[] {
  return command.map((argument) =>
    argument.replace(/\{(workTree|requestFile)\}/g, (_, name: keyof CommandPaths) => paths[name]),
  );
}
