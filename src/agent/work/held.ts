import type { Lease } from "../../coordination/index.ts";
import type { GitLab } from "../gitlab/gitlab.ts";
import type { Jira } from "../jira/jira.ts";

/**
 * GitLab for a lock holder: GitLab and Jira cannot recognise a late request of a former holder, so every write checks
 * the lease first.
 */
export function heldGitLab(gitlab: GitLab, lease: Lease): GitLab {
  const { award, createMergeRequest, startDiscussion, addNote, changeNote, deleteNote } = gitlab;
  return {
    ...gitlab,
    award: asserted(lease, award.bind(gitlab)),
    createMergeRequest: asserted(lease, createMergeRequest.bind(gitlab)),
    startDiscussion: asserted(lease, startDiscussion.bind(gitlab)),
    addNote: asserted(lease, addNote.bind(gitlab)),
    changeNote: asserted(lease, changeNote.bind(gitlab)),
    deleteNote: asserted(lease, deleteNote.bind(gitlab)),
  };
}

export function heldJira(jira: Jira, lease: Lease): Jira {
  const { moveTo, addComment, changeComment, deleteComment } = jira;
  return {
    ...jira,
    moveTo: asserted(lease, moveTo.bind(jira)),
    addComment: asserted(lease, addComment.bind(jira)),
    changeComment: asserted(lease, changeComment.bind(jira)),
    deleteComment: asserted(lease, deleteComment.bind(jira)),
  };
}

function asserted<A extends unknown[], R>(lease: Lease, write: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
  return async (...args) => {
    lease.assertHeld();
    return write(...args);
  };
}
