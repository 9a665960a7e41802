/** Where something is on GitLab. */
export interface MergeRequestPlace {
  readonly host: string;
  readonly projectId: number;
  readonly iid: number;
}

/** What makes two reports of the same thing the same, whether a webhook or a poller brought them. */
export const claimKeys = {
  review: ({ host, projectId, iid }: MergeRequestPlace, headSha: string) =>
    `review:${host}:${projectId}:${iid}:${headSha}`,
  /** A review that a person asked for is done again, once per request. */
  reviewAgain: (place: MergeRequestPlace, headSha: string, noteId: number) =>
    `${claimKeys.review(place, headSha)}:${noteId}`,
  note: ({ host, projectId, iid }: MergeRequestPlace, noteId: number) => `note:${host}:${projectId}:${iid}:${noteId}`,
  /** `since`: when the issue entered the status that asks for work. Moved back there, it is asked for again. */
  issue: (site: string, key: string, since: string) => `jira:${site}:${key}:${since}`,
} as const;
