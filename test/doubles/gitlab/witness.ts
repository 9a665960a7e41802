import { headOf, type MergeRequest } from "./model.ts";
import type { World } from "./world.ts";

/** An independent record of all effects: how often each happened, and by which user. */
export function whatHappened(world: World) {
  const all = world.projects.flatMap(({ mergeRequests }) => mergeRequests);
  return {
    mergeRequests: all.map((mr) => ({
      ...placeOf(mr),
      title: mr.title,
      state: mr.state,
      author: mr.author.username,
      sourceBranch: mr.sourceBranch,
      targetBranch: mr.targetBranch,
      sha: headOf(mr)?.head,
    })),
    discussions: all.flatMap((mr) =>
      mr.discussions
        .filter(({ isIndividual }) => !isIndividual)
        .map(({ id, notes }) => ({
          ...placeOf(mr),
          id,
          notes: notes.length,
          isResolved: notes[0]?.resolved !== undefined,
        })),
    ),
    /** The notes of users and bots, without system notes, oldest first; deleted ones included. */
    notes: all.flatMap((mr) => notesOf(mr)),
    pushes: world.pushes.map(({ project, user, ref, old, new: now }) => ({
      project: project.path,
      user: user.username,
      ref,
      old,
      new: now,
    })),
    awards: all.flatMap((mr) =>
      mr.discussions.flatMap(({ notes }) =>
        notes.flatMap(({ id, awards }) => awards.map(({ name, user }) => ({ note: id, name, user: user.username }))),
      ),
    ),
  };
}

function notesOf(mr: MergeRequest) {
  return mr.discussions.flatMap(({ id: discussion, notes }) =>
    notes
      .filter(({ isSystem }) => !isSystem)
      .map((note) => ({
        ...placeOf(mr),
        discussion,
        id: note.id,
        author: note.author.username,
        body: note.body,
        earlierBodies: note.earlierBodies,
        isDeleted: note.isDeleted,
        position: note.position,
      })),
  );
}

function placeOf({ project, iid }: MergeRequest) {
  return { project: project.path, iid };
}
