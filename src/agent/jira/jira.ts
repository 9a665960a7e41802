/** Port: Jira Cloud's REST API v3, as much of it as we need. Calls reject with a `RemoteError`. Texts are not to be trusted. */
export interface Jira {
  /** Name of the site's host, for keys. */
  readonly site: string;
  /** Our account's id. */
  self(signal?: AbortSignal): Promise<string>;
  /** Issues of a project that stand in a status, the longest there first. The index lags: read an issue before acting. */
  issuesIn(project: string, status: string, signal?: AbortSignal): Promise<readonly FoundIssue[]>;
  issue(key: string, signal?: AbortSignal): Promise<JiraIssue>;
  /**
   * Moves the issue to the status with this name, whatever the transition is called. `moved` also if it is there
   * already; `impossible`: no transition leads there from where it stands, and these statuses can be reached.
   */
  moveTo(key: string, status: string, signal?: AbortSignal): Promise<MoveOutcome>;
  /** The oldest first. */
  comments(key: string, signal?: AbortSignal): Promise<readonly JiraComment[]>;
  /** The text is Markdown: paragraphs, links, lists and code survive. */
  addComment(key: string, markdown: string, signal?: AbortSignal): Promise<JiraComment>;
  changeComment(key: string, commentId: string, markdown: string, signal?: AbortSignal): Promise<void>;
  /** One that is gone already is fine. */
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
  /** When it came to stand in that status: its creation if it never was elsewhere. ISO 8601, UTC. */
  readonly statusSince: string;
  readonly webUrl: string;
  readonly reporter: string | undefined;
}

export type MoveOutcome =
  | { readonly kind: "moved" }
  | { readonly kind: "impossible"; readonly from: string; readonly reachable: readonly string[] };

export interface JiraComment {
  readonly id: string;
  readonly authorId: string;
  /** In plain text. */
  readonly text: string;
}
