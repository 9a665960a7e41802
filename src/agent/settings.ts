import type { Backoff } from "../time/index.ts";
import type { Forks } from "./access.ts";

export interface Settings {
  /** Namespace of tasks. */
  readonly namespace: string;
  /** Tasks that one process works on at a time. */
  readonly concurrency: number;
  /** After so many tries that failed a task is given up. */
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  /** So long a task waits for a GitLab or Jira that is away, or takes our token no more. */
  readonly patienceMs: number;
  /** How long finished tasks are remembered. */
  readonly keepFinishedMs: number;
  /** The access level in GitLab below which authors and commenters are not served. */
  readonly minAccessLevel: number;
  readonly forks: Forks;
  /** Who commits. */
  readonly author: { readonly name: string; readonly email: string };
  /** Whether merge requests for issues begin as drafts. */
  readonly draftMergeRequests: boolean;
  /** The statuses of an issue, by the key of its Jira project. */
  readonly statusesOf: (issueKey: string) => IssueStatuses;
}

export interface IssueStatuses {
  /** Asks for work. */
  readonly trigger: string;
  readonly inProgress: string;
  readonly inReview: string;
}
