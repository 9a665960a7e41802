/**
 * Marks in what we write on GitLab and Jira, by which we recognise it: GitLab and Jira keep no key of ours, and a reply
 * that got lost must not make us say things twice. HTML comments are not shown.
 */
export const markers = {
  /** One finding of one task. */
  finding: (uid: string, n: number) => mark(`finding=${uid}/${n}`),
  /** What a task answers: one note that is changed as the work goes on. */
  answer: (uid: string) => mark(`answer=${uid}`),
  /** The summary of all reviews of a merge request, with the commits they were of, newest first. */
  summary: (shas: readonly string[]) => mark(`reviewed=${shas.join(",")}`),
} as const;

/** For where HTML comments are shown as they are. */
export const plainMarkers = {
  answer: (uid: string) => `[interlock ${uid}]`,
} as const;

/** The commits that a summary says were reviewed, newest first; undefined if it is none. */
export function reviewedIn(body: string): readonly string[] | undefined {
  const [, shas] = /<!-- interlock reviewed=([0-9a-f,]*) -->/.exec(body) ?? [];
  return shas?.split(",").filter((sha) => sha !== "");
}

/** Text of others, in which nothing can be taken for a mark of ours. */
export function withoutMarks(text: string): string {
  return text.replace(/<!--/g, "<!\u200b--");
}

function mark(text: string): string {
  return `<!-- interlock ${text} -->`;
}
