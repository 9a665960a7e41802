import { sleep } from "../../time/index.ts";
import type { Note } from "../gitlab/gitlab.ts";
import { markers } from "../markers.ts";
import { toNoteText } from "../note-text.ts";
import { isRemoteError } from "../remote-error.ts";
import type { MergeRequestAttempt } from "./attempt.ts";

type PostingAttempt = Pick<MergeRequestAttempt, "conversation" | "clock" | "signal">;

const maxTries = 3;
const betweenTriesMs = 1_000;

/**
 * Posts a note unless `find` returns an existing one. After a lost response it searches again before it posts again.
 * `own`: our notes, if they were just read.
 */
export async function postOnce(
  { conversation, clock, signal }: PostingAttempt,
  find: (own: readonly Note[]) => Promise<Note | undefined>,
  post: () => Promise<Note>,
  own?: readonly Note[],
): Promise<Note> {
  for (let tries = 1; ; tries++) {
    const notes = tries === 1 && own ? own : await conversation.ownNotes(signal);
    const existing = await find(notes);
    if (existing) return existing;
    try {
      return await post();
    } catch (error) {
      if (!isRemoteError(error, "unavailable") || tries === maxTries) throw error;
    }
    await sleep(clock, betweenTriesMs, signal);
  }
}

/** Keeps the oldest of equivalent notes: a late request of a former lock holder may have added another. */
export async function keepOldest(
  { conversation, signal }: Pick<MergeRequestAttempt, "conversation" | "signal">,
  equivalent: readonly Note[],
): Promise<Note | undefined> {
  const [oldest, ...others] = [...equivalent].sort((a, b) => a.id - b.id);
  for (const note of others) await conversation.deleteNote(note, signal);
  return oldest;
}

interface TaskNote {
  readonly text: string;
  /** Recognises the note among our notes. */
  readonly isSame: (note: Note) => boolean;
  /** Where a new note is posted. */
  readonly discussionId?: string | undefined;
}

/** Posts a note, or changes it if it exists. `own`: our notes, if they were just read. */
export async function postOrChange(
  attempt: PostingAttempt,
  { text, isSame, discussionId }: TaskNote,
  own?: readonly Note[],
): Promise<Note> {
  const { conversation, signal } = attempt;
  const find = (own: readonly Note[]) => keepOldest(attempt, own.filter(isSame));
  const add = () => conversation.addNote(text, discussionId, signal);
  const note = await postOnce(attempt, find, add, own);
  if (note.body === text || (await conversation.changeNote(note, text, signal))) return note;
  // A person has deleted the note since it was read.
  return await postOnce(attempt, find, add);
}

/** Posts the only note of the task about its progress and its end, or changes it. Nothing in the body triggers anything. */
export async function postAnswer(
  attempt: PostingAttempt & Pick<MergeRequestAttempt, "uid">,
  body: string,
  discussionId?: string,
): Promise<void> {
  const mark = markers.answer(attempt.uid);
  const isSame = (note: Note) => note.body.includes(mark);
  await postOrChange(attempt, { text: `${toNoteText(body)}\n\n${mark}`, isSame, discussionId });
}
