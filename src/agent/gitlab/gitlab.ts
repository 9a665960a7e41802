/**
 * Port: the part of GitLab's REST API that the agent needs. Calls reject with a `RemoteError`, whose kind shows whether
 * a retry can help. Lists carry the server's time, because no other clock may be compared with its times. Texts come
 * from GitLab and are not trusted.
 */
export interface GitLab {
  /** The host name, for keys and targets. */
  readonly host: string;
  /** Our own user. */
  self(signal?: AbortSignal): Promise<GitLabUser>;
  project(id: number | string, signal?: AbortSignal): Promise<Project>;
  /** The user's access level in the project, inherited ones included; 0 for non-members and blocked users. */
  accessLevel(projectId: number, userId: number, signal?: AbortSignal): Promise<number>;

  mergeRequest(ref: MergeRequestRef, signal?: AbortSignal): Promise<MergeRequest>;
  /** Changed at or after `updatedAfter`, oldest change first. */
  mergeRequestsSince(projectId: number, since: Since, signal?: AbortSignal): Promise<Listed<MergeRequest>>;
  /** Notes of people on the merge request at or after `from`, oldest first; without system notes. */
  notesSince(ref: MergeRequestRef, from: string, signal?: AbortSignal): Promise<readonly Note[]>;
  /** Creates a merge request, or returns the open one of the same branch. */
  createMergeRequest(projectId: number, draft: MergeRequestDraft, signal?: AbortSignal): Promise<MergeRequest>;
  /** The changes of the newest version of the merge request; undefined while GitLab has not computed them. */
  changes(ref: MergeRequestRef, signal?: AbortSignal): Promise<Changes | undefined>;

  /** Every discussion of the merge request, all pages. */
  discussions(ref: MergeRequestRef, signal?: AbortSignal): Promise<readonly Discussion[]>;
  startDiscussion(ref: MergeRequestRef, draft: DiscussionDraft, signal?: AbortSignal): Promise<Discussion>;
  /** Adds a note, to a discussion if one is given. */
  addNote(ref: MergeRequestRef, body: string, discussionId?: string, signal?: AbortSignal): Promise<Note>;
  changeNote(ref: MergeRequestRef, noteId: number, body: string, signal?: AbortSignal): Promise<void>;
  /** Succeeds if the note does not exist. */
  deleteNote(ref: MergeRequestRef, noteId: number, signal?: AbortSignal): Promise<void>;
  /** Succeeds if the award exists. */
  award(ref: MergeRequestRef, noteId: number, emoji: string, signal?: AbortSignal): Promise<void>;
}

/** Identifies a merge request within GitLab. */
export interface MergeRequestRef {
  readonly projectId: number;
  readonly iid: number;
}

export interface Since {
  /** ISO 8601; inclusive. */
  readonly from: string;
  /** The maximum number of items; `more` is set if there are others. */
  readonly limit?: number;
}

/** A list, with the server's time of its first page. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly serverDate: Date;
  /** The list is incomplete. */
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
  /** Undefined until the first commit exists. */
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
  /** Only members of the project can read it. */
  readonly internal: boolean;
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
  /** When the head was pushed, by GitLab's clock: at that time or shortly before. ISO 8601. */
  readonly createdAt: string;
  readonly files: readonly FileChange[];
}

export interface FileChange {
  readonly oldPath: string;
  readonly newPath: string;
  /** Unified diff without its file header; empty where GitLab omits it as too large or binary. */
  readonly diff: string;
}
