import { sleep } from "../../time/index.ts";
import type { Note } from "../gitlab/gitlab.ts";
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

/** Posts a note, in the discussion if one is given, or changes the note that has its mark. */
export async function postOrChange(
  attempt: PostingAttempt,
  { mark, body, discussionId }: { readonly mark: string; readonly body: string; readonly discussionId?: string },
): Promise<void> {
  const { conversation, signal } = attempt;
  const text = `${body}\n\n${mark}`;
  const find = (own: readonly Note[]) =>
    keepOldest(
      attempt,
      own.filter((note) => note.body.includes(mark)),
    );
  const add = () => conversation.addNote(text, discussionId, signal);
  const note = await postOnce(attempt, find, add);
  if (note.body === text || (await conversation.changeNote(note, text, signal))) return;
  // A person has deleted the note since it was read.
  await postOnce(attempt, find, add);
}
