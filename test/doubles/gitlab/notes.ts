import type { Discussion, MergeRequest, Note, Position, User } from "./model.ts";
import { noteHappening } from "./webhook-bodies.ts";
import type { World } from "./world.ts";

export interface NoteDraft {
  readonly body: string;
  readonly author: User;
  readonly isInternal?: boolean;
  readonly position?: Position;
}

/** A note by itself. */
export async function addNote(world: World, mr: MergeRequest, draft: NoteDraft): Promise<Note> {
  const discussion = newDiscussion(world, mr, { isIndividual: true });
  return appendNote(world, mr, { ...draft, discussion, type: null });
}

/** A thread with its first note. */
export async function startDiscussion(world: World, mr: MergeRequest, draft: NoteDraft): Promise<Discussion> {
  const discussion = newDiscussion(world, mr, { isIndividual: false });
  await appendNote(world, mr, { ...draft, discussion, type: draft.position ? "DiffNote" : "DiscussionNote" });
  return discussion;
}

/** Answering a note that stood by itself makes it a thread. An answer to an internal note is internal. */
export async function reply(world: World, mr: MergeRequest, to: Discussion, draft: NoteDraft): Promise<Note> {
  const [first] = to.notes;
  if (to.isIndividual && first) {
    to.isIndividual = false;
    first.type = "DiscussionNote";
  }
  const type = first?.type ?? "DiscussionNote";
  const inherited = first && {
    isInternal: first.isInternal,
    ...(first.position && { position: first.position }),
  };
  return appendNote(world, mr, { ...draft, ...inherited, discussion: to, type });
}

export function addSystemNote(world: World, mr: MergeRequest, author: User, body: string): void {
  newDiscussion(world, mr, { isIndividual: true }).notes.push(
    newNote(world, { body, author, type: null, isSystem: true }),
  );
}

export async function changeNote(world: World, mr: MergeRequest, note: Note, body: string): Promise<void> {
  note.earlierBodies.push(note.body);
  note.body = body;
  note.updatedMs = world.time.nowMs();
  touch(world, mr);
  world.sendWebhook(await noteHappening(world, mr, note, "update"));
}

export function deleteNote(world: World, mr: MergeRequest, note: Note): void {
  note.isDeleted = true;
  touch(world, mr);
}

export function resolve(world: World, { notes }: Discussion, by: User, isResolved: boolean): void {
  for (const note of notes) {
    if (!isResolved) delete note.resolved;
    else if (!note.resolved && note.type !== null) note.resolved = { by, atMs: world.time.nowMs() };
  }
}

/** False: this user has given it already. */
export function award(world: World, note: Note, user: User, name: string): boolean {
  if (note.awards.some((given) => given.user === user && given.name === name)) return false;
  note.awards.push({ id: world.nextId(), name, user, createdMs: world.time.nowMs() });
  return true;
}

/** The discussions without deleted notes. */
export function livingDiscussions(mr: MergeRequest): Discussion[] {
  const living = mr.discussions.map((discussion) => withoutDeleted(discussion));
  return living.filter(({ notes }) => notes.length > 0);
}

export function withoutDeleted(discussion: Discussion): Discussion {
  return { ...discussion, notes: discussion.notes.filter(({ isDeleted }) => !isDeleted) };
}

export function discussionOf(mr: MergeRequest, note: Note): Discussion {
  return mr.discussions.find(({ notes }) => notes.includes(note)) as Discussion;
}

/** Only threads can be resolved: neither system notes nor individual notes. */
export function isResolvable({ type, isSystem }: Note): boolean {
  return type !== null && !isSystem;
}

type Appended = NoteDraft & { readonly discussion: Discussion; readonly type: Note["type"] };

async function appendNote(world: World, mr: MergeRequest, { discussion, ...draft }: Appended): Promise<Note> {
  const note = newNote(world, draft);
  discussion.notes.push(note);
  touch(world, mr);
  world.sendWebhook(await noteHappening(world, mr, note, "create"));
  return note;
}

function newDiscussion(world: World, mr: MergeRequest, { isIndividual }: { isIndividual: boolean }): Discussion {
  const discussion: Discussion = { id: world.nextDiscussionId(), isIndividual, notes: [] };
  mr.discussions.push(discussion);
  return discussion;
}

function newNote(world: World, draft: NoteDraft & { readonly type: Note["type"]; readonly isSystem?: boolean }): Note {
  const nowMs = world.time.nowMs();
  return {
    id: world.nextId(),
    type: draft.type,
    body: draft.body,
    author: draft.author,
    isSystem: draft.isSystem ?? false,
    isInternal: draft.isInternal ?? false,
    position: draft.position,
    createdMs: nowMs,
    updatedMs: nowMs,
    earlierBodies: [],
    isDeleted: false,
    awards: [],
  };
}

/** Real GitLab leaves `updated_at` alone while it is younger than this. */
const touchIntervalMs = 60_000;

/** Sets `updated_at` of the merge request of a new note, unless that changed within the last minute. */
function touch(world: World, mr: MergeRequest): void {
  const nowMs = world.time.nowMs();
  if (nowMs - mr.updatedMs > touchIntervalMs) mr.updatedMs = nowMs;
}
