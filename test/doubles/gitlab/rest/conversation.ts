import { Refusal } from "../../web/call.ts";
import type { Route } from "../../web/router.ts";
import { developer, guest, maintainer, type Note, reporter } from "../model.ts";
import {
  addNote,
  award,
  changeNote,
  deleteNote,
  livingDiscussions,
  reply,
  resolve,
  startDiscussion,
  withoutDeleted,
} from "../notes.ts";
import { awardView, discussionView, noteView } from "../views.ts";
import type { World } from "../world.ts";
import {
  badRequest,
  demand,
  discussionNamed,
  forbidden,
  inMergeRequest,
  type MergeRequestVisit,
  missing,
  noteOf,
  page,
} from "./desk.ts";
import { invalid } from "./input.ts";
import { readPosition } from "./position.ts";

/** The routes of notes, discussions and awards of a merge request. */
export function conversation(world: World): Route[] {
  return [
    inMergeRequest("GET", "/notes", world, listNotes),
    inMergeRequest("POST", "/notes", world, createNote),
    inMergeRequest("GET", "/notes/:note", world, (visit) => showNote(visit, noteOf(visit))),
    inMergeRequest("PUT", "/notes/:note", world, editNote),
    inMergeRequest("DELETE", "/notes/:note", world, removeNote),
    inMergeRequest("GET", "/notes/:note/award_emoji", world, (visit) => {
      const note = noteOf(visit);
      return page(visit, note.awards, (given) => awardView(given, note, world.time));
    }),
    inMergeRequest("POST", "/notes/:note/award_emoji", world, giveAward),
    inMergeRequest("DELETE", "/notes/:note/award_emoji/:award", world, takeAward),
    inMergeRequest("GET", "/discussions", world, listDiscussions),
    inMergeRequest("POST", "/discussions", world, createDiscussion),
    inMergeRequest("GET", "/discussions/:discussion", world, (visit) => showDiscussion(visit)),
    inMergeRequest("PUT", "/discussions/:discussion", world, resolveDiscussion),
    inMergeRequest("POST", "/discussions/:discussion/notes", world, answerDiscussion),
    inMergeRequest("PUT", "/discussions/:discussion/notes/:note", world, editNote),
    inMergeRequest("DELETE", "/discussions/:discussion/notes/:note", world, removeNote),
  ];
}

/** Filters that GitLab does not have are ignored, as they are there: `created_after` finds everything. */
function listNotes(visit: MergeRequestVisit) {
  const { mr, input, world } = visit;
  const key = input.oneOf("order_by", ["created_at", "updated_at"], "created_at");
  const direction = input.oneOf("sort", ["asc", "desc"], "desc") === "asc" ? 1 : -1;
  const filter = input.oneOf("activity_filter", ["all_notes", "only_comments", "only_activity"], "all_notes");
  const notes = livingDiscussions(mr)
    .flatMap((discussion) => discussion.notes)
    .filter((note) => mayRead(visit, note))
    .filter(({ isSystem }) => filter === "all_notes" || isSystem === (filter === "only_activity"));
  const rank = (note: Note) => (key === "created_at" ? note.createdMs : note.updatedMs);
  notes.sort((one, other) => direction * (rank(one) - rank(other) || one.id - other.id));
  return page(visit, notes, (note) => noteView(note, mr, world.time));
}

function mayRead({ level }: MergeRequestVisit, note: Note): boolean {
  return !note.isInternal || level >= reporter;
}

async function createNote(visit: MergeRequestVisit) {
  const { mr, world, user, input } = visit;
  const body = bodyOf(visit);
  const isInternal = input.flag("internal") ?? input.flag("confidential") ?? false;
  if (isInternal) demand(visit, reporter);
  const note = await addNote(world, mr, { body, author: user, isInternal });
  return { status: 201, body: noteView(note, mr, world.time) };
}

/** Returns the body of a note if it is valid. */
function bodyOf(visit: MergeRequestVisit): string {
  if (visit.project.visibility === "private") demand(visit, guest);
  const body = visit.input.required("body");
  if (body.trim() === "") throw badRequest(`Note {:note=>["can't be blank"]}`);
  if (body.length > 1_000_000) throw badRequest(`Note {:note=>["is too long (maximum is 1000000 characters)"]}`);
  return body;
}

function showNote(visit: MergeRequestVisit, note: Note, status = 200) {
  if (!mayRead(visit, note)) throw missing();
  return { status, body: noteView(note, visit.mr, visit.world.time) };
}

async function editNote(visit: MergeRequestVisit) {
  const { mr, world, input, user } = visit;
  const note = noteOf(visit);
  if (visit.call.params["discussion"] !== undefined && input.has("resolved") && !input.has("body")) {
    return resolveDiscussion(visit);
  }
  const body = bodyOf(visit);
  if (note.isSystem || (note.author !== user && visit.level < maintainer)) throw forbidden();
  await changeNote(world, mr, note, body);
  return showNote(visit, note);
}

function removeNote(visit: MergeRequestVisit) {
  const note = noteOf(visit);
  if (note.isSystem || (note.author !== visit.user && visit.level < maintainer)) throw forbidden();
  deleteNote(visit.world, visit.mr, note);
  return { status: 204 };
}

function giveAward(visit: MergeRequestVisit) {
  const { world, user, input } = visit;
  const note = noteOf(visit);
  const name = input.required("name");
  if (!/^[a-z0-9_+-]+$/.test(name)) throw missing("Award Emoji Name is not a valid emoji name");
  if (!award(world, note, user, name)) throw missing("Award Emoji Name has already been taken");
  const given = note.awards.at(-1);
  return { status: 201, body: given && awardView(given, note, world.time) };
}

function takeAward(visit: MergeRequestVisit) {
  const { awards } = noteOf(visit);
  const at = awards.findIndex(({ id }) => String(id) === visit.call.params["award"]);
  if (at < 0) throw missing();
  if (awards[at]?.user !== visit.user) throw forbidden();
  awards.splice(at, 1);
  return { status: 204 };
}

function listDiscussions(visit: MergeRequestVisit) {
  const { mr, world } = visit;
  const readable = livingDiscussions(mr).filter(({ notes }) => notes.every((note) => mayRead(visit, note)));
  return page(visit, readable, (discussion) => discussionView(discussion, mr, world.time));
}

async function createDiscussion(visit: MergeRequestVisit) {
  const { mr, world, user, input } = visit;
  const body = bodyOf(visit);
  const position = input.has("position") && { position: await readPosition(input.values["position"], mr) };
  const discussion = await startDiscussion(world, mr, { body, author: user, ...position });
  return { status: 201, body: discussionView(discussion, mr, world.time) };
}

function showDiscussion(visit: MergeRequestVisit) {
  const discussion = withoutDeleted(discussionNamed(visit));
  return { status: 200, body: discussionView(discussion, visit.mr, visit.world.time) };
}

function resolveDiscussion(visit: MergeRequestVisit) {
  const discussion = discussionNamed(visit);
  const isResolved = visit.input.flag("resolved");
  if (isResolved === undefined) throw invalid("resolved is missing");
  if (discussion.isIndividual) throw new Refusal(400, { message: "400 Bad request - Discussion is not resolvable" });
  if (visit.mr.author !== visit.user) demand(visit, developer);
  resolve(visit.world, discussion, visit.user, isResolved);
  return showDiscussion(visit);
}

async function answerDiscussion(visit: MergeRequestVisit) {
  const discussion = discussionNamed(visit);
  const body = bodyOf(visit);
  const note = await reply(visit.world, visit.mr, discussion, { body, author: visit.user });
  return showNote(visit, note, 201);
}
