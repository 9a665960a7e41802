/** Where issues are opened. */
export interface IssueProject {
  /** Of the tracker, such as https://gitlab.example.com. */
  readonly url: string;
  readonly token: string;
  /** Path or id of the project. */
  readonly project: string;
}

export interface IssueDraft {
  readonly title: string;
  readonly description: string;
  /** The label by which the issue is found again. */
  readonly marker: string;
}

/** Port: the issues of a tracker. Every call ends, by a response or an `IssueTrackerError`. */
export interface IssueTracker {
  /** The address of the open issue with the label; undefined if there is none. */
  find(project: IssueProject, marker: string, signal?: AbortSignal): Promise<string | undefined>;
  /** Opens an issue and returns its address. */
  open(project: IssueProject, draft: IssueDraft, signal?: AbortSignal): Promise<string>;
}

/** The tracker rejected a request or did not respond. The message never contains the token. */
export class IssueTrackerError extends Error {
  override readonly name = "IssueTrackerError";
  /** Whether a later attempt may succeed. */
  readonly isTransient: boolean;

  constructor(message: string, isTransient: boolean) {
    super(message);
    this.isTransient = isTransient;
  }
}
