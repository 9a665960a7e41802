/**
 * Port: GitLab's REST API, as much of it as we need. Calls reject with a `RemoteError`, whose kind says whether trying
 * again can help; what is listed comes with the server's own time, because no other clock is compared with its times.
 * Texts are GitLab's, and not to be trusted.
 */
export interface GitLab {
  /** Name of its host, for keys and targets. */
  readonly host: string;
  /** Who we are there. */
  self(signal?: AbortSignal): Promise<GitLabUser>;
  project(id: number | string, signal?: AbortSignal): Promise<Project>;
  /** The user's access level in the project, inherited ones included; 0 for one who is no member. */
  accessLevel(projectId: number, userId: number, signal?: AbortSignal): Promise<number>;

  mergeRequest(place: MergeRequestRef, signal?: AbortSignal): Promise<MergeRequest>;
  /** Changed at or after `updatedAfter`, oldest change first. */
  mergeRequestsSince(projectId: number, since: Since, signal?: AbortSignal): Promise<Listed<MergeRequest>>;
  /** What people said on the merge request at or after `from`, oldest first; without GitLab's own notes. */
  notesSince(place: MergeRequestRef, from: string, signal?: AbortSignal): Promise<readonly Note[]>;
  /** The merge request, or the open one that the branch already has. */
  createMergeRequest(projectId: number, draft: MergeRequestDraft, signal?: AbortSignal): Promise<MergeRequest>;
  /** What the merge request changes, in its newest version; undefined while GitLab has not worked it out. */
  changes(place: MergeRequestRef, signal?: AbortSignal): Promise<Changes | undefined>;

  /** Every discussion of the merge request, all pages. */
  discussions(place: MergeRequestRef, signal?: AbortSignal): Promise<readonly Discussion[]>;
  startDiscussion(place: MergeRequestRef, draft: DiscussionDraft, signal?: AbortSignal): Promise<Discussion>;
  /** A note by itself, or an answer in a discussion. */
  addNote(place: MergeRequestRef, body: string, discussionId?: string, signal?: AbortSignal): Promise<Note>;
  changeNote(place: MergeRequestRef, noteId: number, body: string, signal?: AbortSignal): Promise<void>;
  /** One that is gone already is fine. */
  deleteNote(place: MergeRequestRef, noteId: number, signal?: AbortSignal): Promise<void>;
  /** One that is there already is fine. */
  award(place: MergeRequestRef, noteId: number, emoji: string, signal?: AbortSignal): Promise<void>;
}

/** A merge request's place within GitLab. */
export interface MergeRequestRef {
  readonly projectId: number;
  readonly iid: number;
}

export interface Since {
  /** ISO 8601; inclusive. */
  readonly from: string;
  /** The most that are read at once; `more` says that there are others. */
  readonly limit?: number;
}

/** A list with the server's clock when its first page was made. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly serverDate: Date;
  /** It was not read to its end. */
  readonly more: boolean;
}

export interface GitLabUser {
  readonly id: number;
  readonly username: string;
}

export interface Project {
  readonly id: number;
  readonly path: string;
  readonly webUrl: string;
  /** Without credentials. */
  readonly cloneUrl: string;
  readonly defaultBranch: string;
}

export interface MergeRequest extends MergeRequestRef {
  readonly title: string;
  readonly description: string;
  readonly state: "opened" | "closed" | "merged" | "locked";
  readonly draft: boolean;
  readonly labels: readonly string[];
  readonly author: GitLabUser;
  readonly sourceBranch: string;
  readonly targetBranch: string;
  readonly sourceProjectId: number;
  /** Undefined until the first commit is there. */
  readonly headSha: string | undefined;
  readonly webUrl: string;
  /** ISO 8601 with any offset. */
  readonly updatedAt: string;
}

export interface MergeRequestDraft {
  readonly sourceBranch: string;
  readonly targetBranch: string;
  readonly title: string;
  readonly description: string;
}

export interface Note {
  readonly id: number;
  readonly body: string;
  readonly author: GitLabUser;
  readonly system: boolean;
  readonly createdAt: string;
  readonly discussionId?: string;
}

export interface Discussion {
  readonly id: string;
  readonly notes: readonly Note[];
}

export interface DiscussionDraft {
  readonly body: string;
  readonly position: Position;
}

/** Added lines have only a new number, removed ones only an old one, all others both. */
export interface Position extends DiffRefs {
  readonly oldPath: string;
  readonly newPath: string;
  readonly oldLine?: number;
  readonly newLine?: number;
}

export interface DiffRefs {
  readonly baseSha: string;
  readonly startSha: string;
  readonly headSha: string;
}

export interface Changes {
  readonly refs: DiffRefs;
  /** When the head was pushed, by GitLab's clock: at that time or a little before. ISO 8601. */
  readonly createdAt: string;
  readonly files: readonly FileChange[];
}

export interface FileChange {
  readonly oldPath: string;
  readonly newPath: string;
  readonly kind: "added" | "deleted" | "renamed" | "changed";
  /** Unified diff without its file header; empty where GitLab leaves it out as too large or binary. */
  readonly diff: string;
}
