import type { Lease } from "../../coordination/index.ts";
import type { GitLab } from "../gitlab/gitlab.ts";
import type { Jira } from "../jira/jira.ts";

/**
 * GitLab for a lock holder: GitLab and Jira cannot recognise a late request of a former holder, so every write checks
 * the lease first.
 */
export function guardGitLab(gitlab: GitLab, lease: Lease): GitLab {
  const { award, createMergeRequest, startDiscussion, addNote, changeNote, deleteNote } = gitlab;
  return {
    ...gitlab,
    award: guardWrite(lease, award.bind(gitlab)),
    createMergeRequest: guardWrite(lease, createMergeRequest.bind(gitlab)),
    startDiscussion: guardWrite(lease, startDiscussion.bind(gitlab)),
    addNote: guardWrite(lease, addNote.bind(gitlab)),
    changeNote: guardWrite(lease, changeNote.bind(gitlab)),
    deleteNote: guardWrite(lease, deleteNote.bind(gitlab)),
  };
}

export function guardJira(jira: Jira, lease: Lease): Jira {
  const { moveTo, addComment, changeComment, deleteComment } = jira;
  return {
    ...jira,
    moveTo: guardWrite(lease, moveTo.bind(jira)),
    addComment: guardWrite(lease, addComment.bind(jira)),
    changeComment: guardWrite(lease, changeComment.bind(jira)),
    deleteComment: guardWrite(lease, deleteComment.bind(jira)),
  };
}

function guardWrite<A extends unknown[], R>(
  lease: Lease,
  write: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  return async (...args) => {
    lease.assertHeld();
    return write(...args);
  };
}
