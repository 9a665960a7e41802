/**
 * Port: the part of Jira Cloud's REST API v3 that the agent needs. Calls reject with a `RemoteError`. Texts are not
 * trusted.
 */
export interface Jira {
  /** The host name of the site, for keys. */
  readonly site: string;
  /** The id of our account. */
  self(signal?: AbortSignal): Promise<string>;
  /**
   * Issues of a project in a status, the longest there first. The search index lags: read an issue before acting on it.
   */
  issuesIn(project: string, status: string, signal?: AbortSignal): Promise<readonly FoundIssue[]>;
  issue(key: string, signal?: AbortSignal): Promise<JiraIssue>;
  /**
   * Moves the issue to the status, whatever the transition is called. `moved` also if it is in that status;
   * `impossible`: no transition leads there, only to the `reachable` statuses.
   */
  moveTo(key: string, status: string, signal?: AbortSignal): Promise<MoveOutcome>;
  /** The oldest first. */
  comments(key: string, signal?: AbortSignal): Promise<readonly JiraComment[]>;
  /** The text is Markdown: paragraphs, links, lists and code are converted. */
  addComment(key: string, markdown: string, signal?: AbortSignal): Promise<JiraComment>;
  changeComment(key: string, commentId: string, markdown: string, signal?: AbortSignal): Promise<void>;
  /** Succeeds if the comment does not exist. */
  deleteComment(key: string, commentId: string, signal?: AbortSignal): Promise<void>;
}

export interface FoundIssue {
  readonly key: string;
  readonly updatedAt: string;
}

export interface JiraIssue {
  readonly key: string;
  readonly summary: string;
  /** In Markdown. */
  readonly description: string;
  readonly status: string;
  /** When the issue entered its status: its creation if it had no other. ISO 8601, UTC. */
  readonly statusSince: string;
  readonly webUrl: string;
  readonly reporter: string | undefined;
}

export type MoveOutcome =
  | { readonly kind: "moved" }
  | { readonly kind: "impossible"; readonly from: string; readonly reachable: readonly string[] };

/** Compares the names of two statuses as Jira does. */
export function isSameStatus(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

export interface JiraComment {
  readonly id: string;
  readonly authorId: string;
  /** In Markdown. */
  readonly text: string;
}
