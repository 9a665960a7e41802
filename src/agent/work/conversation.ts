import type { Discussion, DiscussionDraft, GitLab, MergeRequestRef, Note } from "../gitlab/gitlab.ts";
import { isRemoteError } from "../remote-error.ts";

/**
 * The discussions of one merge request. They are read once per attempt and kept current with our own writes: later
 * calls only ask GitLab for newer notes.
 */
export class Conversation {
  readonly #gitlab: GitLab;
  readonly #ref: MergeRequestRef;
  #discussions: readonly Discussion[] | undefined;
  /** All notes by id, in the order in which they were read or written. */
  readonly #notes = new Map<number, Note>();

  constructor(gitlab: GitLab, ref: MergeRequestRef) {
    this.#gitlab = gitlab;
    this.#ref = ref;
  }

  /** The discussions as they were when the attempt first read them. */
  async discussions(signal: AbortSignal): Promise<readonly Discussion[]> {
    if (!this.#discussions) {
      this.#discussions = await this.#gitlab.discussions(this.#ref, signal);
      for (const note of this.#discussions.flatMap(({ notes }) => notes)) this.#notes.set(note.id, note);
    }
    return this.#discussions;
  }

  /** Our notes, including those that a late request of a former lock holder has added meanwhile. */
  async ownNotes(signal: AbortSignal): Promise<readonly Note[]> {
    const { id: selfId } = await this.#gitlab.self(signal);
    if (this.#discussions) await this.#readNewer(signal);
    else await this.discussions(signal);
    return [...this.#notes.values()].filter(({ author, system }) => author.id === selfId && !system);
  }

  async addNote(body: string, discussionId: string | undefined, signal: AbortSignal): Promise<Note> {
    const note = await this.#gitlab.addNote(this.#ref, body, discussionId, signal);
    this.#notes.set(note.id, note);
    return note;
  }

  /** Undefined: GitLab created the discussion without a note. */
  async startDiscussion(draft: DiscussionDraft, signal: AbortSignal): Promise<Note | undefined> {
    const { notes } = await this.#gitlab.startDiscussion(this.#ref, draft, signal);
    for (const note of notes) this.#notes.set(note.id, note);
    return notes[0];
  }

  /** Returns whether the note still existed. */
  async changeNote(note: Note, body: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#gitlab.changeNote(this.#ref, note.id, body, signal);
    } catch (error) {
      if (!isRemoteError(error, "missing")) throw error;
      this.#notes.delete(note.id);
      return false;
    }
    this.#notes.set(note.id, { ...note, body });
    return true;
  }

  async deleteNote({ id }: Note, signal: AbortSignal): Promise<void> {
    await this.#gitlab.deleteNote(this.#ref, id, signal);
    this.#notes.delete(id);
  }

  async #readNewer(signal: AbortSignal): Promise<void> {
    // By GitLab's clock, and inclusive: other notes of the newest note's millisecond may have been missing.
    const newestMs = Math.max(0, ...[...this.#notes.values()].map(({ createdAt }) => Date.parse(createdAt)));
    const newer = await this.#gitlab.notesSince(this.#ref, new Date(newestMs).toISOString(), signal);
    for (const note of newer) this.#notes.set(note.id, note);
  }
}
