/** Identifies a merge request on GitLab. */
export interface MergeRequestPlace {
  readonly host: string;
  readonly projectId: number;
  readonly iid: number;
}

/** The keys that are the same for all reports of one item, from a webhook or a poll. */
export const claimKeys = {
  review: ({ host, projectId, iid }: MergeRequestPlace, headSha: string) =>
    `review:${host}:${projectId}:${iid}:${headSha}`,
  /** A review that a person asked for is done again, once per request. */
  reviewAgain: (place: MergeRequestPlace, headSha: string, noteId: number) =>
    `${claimKeys.review(place, headSha)}:${noteId}`,
  note: ({ host, projectId, iid }: MergeRequestPlace, noteId: number) => `note:${host}:${projectId}:${iid}:${noteId}`,
  /** `since`: when the issue entered the status that asks for work. An issue that is moved back there is a new task. */
  issue: (site: string, key: string, since: string) => `jira:${site}:${key}:${since}`,
} as const;
