import type { Finding } from "../coder/coder.ts";
import type { Changes, Note, Position } from "../gitlab/gitlab.ts";
import { markers, withoutMarks } from "../markers.ts";
import { longestBacktickRun, toNoteText } from "../note-text.ts";
import { isRemoteError } from "../remote-error.ts";
import { findPosition } from "../review/positions.ts";
import type { ReviewAttempt } from "../work/attempt.ts";
import { keepOldest, postOnce } from "../work/post-once.ts";

/** Posts each finding once, at its line if the diff has it. Returns the number of findings. */
export async function postFindings(
  attempt: ReviewAttempt,
  changes: Changes,
  findings: readonly Finding[],
): Promise<number> {
  const { conversation, progress, signal, uid } = attempt;
  if (progress.resultOf("comments")) return findings.length;

  const own = await conversation.ownNotes(signal);
  for (const [n, finding] of findings.entries()) {
    const mark = markers.finding(uid, n);
    const body = `${findingText(finding)}\n\n${mark}`;
    const find = async (own: readonly Note[]) => own.find((note) => note.body.includes(mark));
    const position = findPosition(finding, changes);
    await postOnce(attempt, find, () => post(attempt, { body, finding, position }), own);
  }
  await removeDuplicates(attempt, findings.length);
  await progress.record("comments", { count: String(findings.length) });
  return findings.length;
}

interface Comment {
  readonly body: string;
  readonly finding: Finding;
  readonly position: Position | undefined;
}

/** A finding whose position GitLab refuses becomes a note without one. */
async function post({ conversation, signal }: ReviewAttempt, { body, finding, position }: Comment): Promise<Note> {
  if (position) {
    try {
      const note = await conversation.startDiscussion({ body, position }, signal);
      if (note) return note;
    } catch (error) {
      if (!isRemoteError(error, "refused")) throw error;
    }
  }
  return conversation.addNote(`\`${toNoteText(finding.path)}:${finding.line}\` ${body}`, undefined, signal);
}

/** Removes the findings that a late request of a former lock holder has added. */
async function removeDuplicates(attempt: ReviewAttempt, count: number): Promise<void> {
  if (count === 0) return;
  const own = await attempt.conversation.ownNotes(attempt.signal);
  for (let n = 0; n < count; n++) {
    const mark = markers.finding(attempt.uid, n);
    await keepOldest(
      attempt,
      own.filter(({ body }) => body.includes(mark)),
    );
  }
}

function findingText({ severity, message, suggestion }: Finding): string {
  const text = `**[${severity.toUpperCase()}]** ${toNoteText(message)}`;
  if (suggestion === undefined) return text;
  const fence = "`".repeat(Math.max(3, longestBacktickRun(suggestion) + 1));
  return `${text}\n\n${fence}suggestion:-0+0\n${withoutMarks(suggestion)}\n${fence}`;
}
