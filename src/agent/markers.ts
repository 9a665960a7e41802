/**
 * Marks by which we recognise our own notes on GitLab and comments on Jira: both keep no key of ours, and a lost
 * response must not lead to a second note. HTML comments are not displayed.
 */
export const markers = {
  /** One finding of one task. */
  finding: (uid: string, n: number) => mark(`finding=${uid}/${n}`),
  /** The note of a task, which is changed as the work proceeds. */
  answer: (uid: string) => mark(`answer=${uid}`),
  /** The summary of all reviews of a merge request, with the reviewed commits, newest first. */
  summary: (shas: readonly string[]) => mark(`reviewed=${shas.join(",")}`),
  /** The comment of a task on Jira, which displays HTML comments. */
  jiraAnswer: (uid: string) => `[interlock ${uid}]`,
} as const;

/** Returns the commits that a summary lists as reviewed, newest first; undefined if the text is no summary. */
export function reviewedIn(body: string): readonly string[] | undefined {
  const [, shas] = /<!-- interlock reviewed=([0-9a-f,]*) -->/.exec(body) ?? [];
  return shas?.split(",").filter((sha) => sha !== "");
}

/** Text from outside, in which nothing can be mistaken for our mark. */
export function withoutMarks(text: string): string {
  return text.replace(/<!--/g, "<!\u200b--");
}

function mark(text: string): string {
  return `<!-- interlock ${text} -->`;
}
