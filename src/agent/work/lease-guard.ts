import type { Lease } from "../../coordination/index.ts";
import type { GitLab } from "../gitlab/gitlab.ts";
import type { Jira } from "../jira/jira.ts";

/**
 * GitLab for a lock holder: GitLab and Jira cannot recognise a late request of a former holder, so every write checks
 * the lease first.
 */
export function guardGitLab(gitlab: GitLab, lease: Lease): GitLab {
  return {
    ...gitlab,
    award: guardWrite(lease, gitlab.award),
    createMergeRequest: guardWrite(lease, gitlab.createMergeRequest),
    startDiscussion: guardWrite(lease, gitlab.startDiscussion),
    addNote: guardWrite(lease, gitlab.addNote),
    changeNote: guardWrite(lease, gitlab.changeNote),
    deleteNote: guardWrite(lease, gitlab.deleteNote),
  };
}

export function guardJira(jira: Jira, lease: Lease): Jira {
  return {
    ...jira,
    moveTo: guardWrite(lease, jira.moveTo),
    addComment: guardWrite(lease, jira.addComment),
    changeComment: guardWrite(lease, jira.changeComment),
    deleteComment: guardWrite(lease, jira.deleteComment),
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
