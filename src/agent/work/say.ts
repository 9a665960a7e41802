import { sleep } from "../../time/index.ts";
import type { Discussion, GitLab, MergeRequestRef, Note } from "../gitlab/gitlab.ts";
import { isRemoteError } from "../remote-error.ts";
import type { Attempt } from "./attempt.ts";

type Speaking = Pick<Attempt, "gitlab" | "clock" | "signal">;

const maxTries = 3;
const betweenTriesMs = 1_000;

/**
 * Says something once: unless a note with this mark is there, says it. When the reply to that got lost it looks again
 * before it says it again.
 */
export async function sayOnce(
  attempt: Speaking,
  find: () => Promise<Note | undefined>,
  say: () => Promise<Note>,
): Promise<Note> {
  const { clock, signal } = attempt;
  for (let tries = 1; ; tries++) {
    const there = await find();
    if (there) return there;
    try {
      return await say();
    } catch (error) {
      if (!isRemoteError(error, "unavailable") || tries === maxTries) throw error;
    }
    await sleep(clock, betweenTriesMs, signal);
  }
}

/** Our notes in the discussions of a merge request. */
export function ownNotes(discussions: readonly Discussion[], selfId: number): readonly Note[] {
  return discussions
    .flatMap(({ id, notes }) => notes.map((note) => ({ ...note, discussionId: id })))
    .filter(({ author, system }) => author.id === selfId && !system);
}

/** Every note of ours on the merge request. */
export async function readOwnNotes(
  gitlab: GitLab,
  place: MergeRequestRef,
  signal: AbortSignal,
): Promise<readonly Note[]> {
  const self = await gitlab.self(signal);
  return ownNotes(await gitlab.discussions(place, signal), self.id);
}

/** A request of a holder that lost its lock may arrive late. Of notes that say the same thing only the oldest stays. */
export async function onlyFirst(
  { gitlab, signal }: Speaking,
  place: MergeRequestRef,
  same: readonly Note[],
): Promise<Note | undefined> {
  const [first, ...doubles] = [...same].sort((a, b) => a.id - b.id);
  for (const { id } of doubles) await gitlab.deleteNote(place, id, signal);
  return first;
}

/** A note by itself or, with a discussion, in it; changed in place if it is there already. */
export async function sayOrChange(
  attempt: Speaking,
  place: MergeRequestRef,
  { mark, body, discussionId }: { readonly mark: string; readonly body: string; readonly discussionId?: string },
): Promise<Note> {
  const { gitlab, signal } = attempt;
  const text = `${body}\n\n${mark}`;
  const find = async () => {
    const own = await readOwnNotes(gitlab, place, signal);
    return onlyFirst(
      attempt,
      place,
      own.filter((note) => note.body.includes(mark)),
    );
  };
  const said = await sayOnce(attempt, find, () => gitlab.addNote(place, text, discussionId, signal));
  if (said.body !== text) await gitlab.changeNote(place, said.id, text, signal);
  return said;
}
