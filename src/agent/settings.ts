import type { Backoff } from "../time/index.ts";
import type { Forks } from "./access.ts";

export interface Settings {
  /** Namespace of tasks. */
  readonly namespace: string;
  /** Tasks that one process works on at a time. */
  readonly concurrency: number;
  /** A task fails after this many failed attempts. */
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  /** How long a task waits for a GitLab or Jira that is unavailable or rejects our token. */
  readonly patienceMs: number;
  /** How long closed tasks are kept. */
  readonly keepFinishedMs: number;
  /** The access level in GitLab below which authors and commenters are not served. */
  readonly minAccessLevel: number;
  readonly forks: Forks;
  /** The name by which comments address the agent, besides /copilot. */
  readonly username?: string | undefined;
  /** The author of commits. */
  readonly author: { readonly name: string; readonly email: string };
  /** Whether merge requests for issues start as drafts. */
  readonly draftMergeRequests: boolean;
  /** Returns the statuses for an issue, by the key of its Jira project. */
  readonly statusesOf: (issueKey: string) => IssueStatuses;
}

export interface IssueStatuses {
  /** Issues in this status are solved. */
  readonly trigger: string;
  readonly inProgress: string;
  readonly inReview: string;
}
