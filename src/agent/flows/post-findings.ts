import type { Finding } from "../coder/coder.ts";
import type { Changes, MergeRequestRef, Note, Position } from "../gitlab/gitlab.ts";
import { markers, withoutMarks } from "../markers.ts";
import { isRemoteError } from "../remote-error.ts";
import { positionOf } from "../review/positions.ts";
import type { ReviewAttempt } from "../work/attempt.ts";
import { onlyFirst, readOwnNotes, sayOnce } from "../work/say.ts";

/** Says each finding once, at its line if it has one in the diff. Returns how many there are to read. */
export async function postFindings(
  attempt: ReviewAttempt,
  place: MergeRequestRef,
  changes: Changes,
  findings: readonly Finding[],
): Promise<number> {
  const { gitlab, journal, signal, uid } = attempt;
  if (journal.resultOf("comments")) return findings.length;

  let own = await readOwnNotes(gitlab, place, signal);
  for (const [n, finding] of findings.entries()) {
    const mark = markers.finding(uid, n);
    const body = `${textOf(finding)}\n\n${mark}`;
    let isFirstLook = true;
    const find = async () => {
      if (!isFirstLook) own = await readOwnNotes(gitlab, place, signal);
      isFirstLook = false;
      return own.find((note) => note.body.includes(mark));
    };
    await sayOnce(attempt, find, () => post(attempt, place, { body, finding, position: positionOf(finding, changes) }));
  }
  await removeDoubles(attempt, place, findings.length);
  await journal.record("comments", { count: String(findings.length) });
  return findings.length;
}

interface Comment {
  readonly body: string;
  readonly finding: Finding;
  readonly position: Position | undefined;
}

/** GitLab has the last word on where a comment may stand. Without a place it still has to be read. */
async function post({ gitlab, signal }: ReviewAttempt, place: MergeRequestRef, comment: Comment): Promise<Note> {
  const { body, finding, position } = comment;
  if (position) {
    try {
      const { id, notes } = await gitlab.startDiscussion(place, { body, position }, signal);
      const [first] = notes;
      if (first) return { ...first, discussionId: id };
    } catch (error) {
      if (!isRemoteError(error, "refused")) throw error;
    }
  }
  return gitlab.addNote(place, `\`${finding.path}:${finding.line}\` ${body}`, undefined, signal);
}

async function removeDoubles(attempt: ReviewAttempt, place: MergeRequestRef, count: number): Promise<void> {
  if (count === 0) return;
  const own = await readOwnNotes(attempt.gitlab, place, attempt.signal);
  for (let n = 0; n < count; n++) {
    const mark = markers.finding(attempt.uid, n);
    await onlyFirst(
      attempt,
      place,
      own.filter(({ body }) => body.includes(mark)),
    );
  }
}

function textOf({ severity, message, suggestion }: Finding): string {
  const text = `**[${severity.toUpperCase()}]** ${withoutMarks(message)}`;
  if (suggestion === undefined) return text;
  const fence = "`".repeat(Math.max(3, longestRun(suggestion) + 1));
  return `${text}\n\n${fence}suggestion:-0+0\n${withoutMarks(suggestion)}\n${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}
