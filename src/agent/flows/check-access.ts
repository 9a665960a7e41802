import { accessRefusal } from "../access.ts";
import { type End, failedEnd, remoteErrorEnd } from "../end.ts";
import type { GitLabUser, MergeRequest } from "../gitlab/gitlab.ts";
import { isRemoteError } from "../remote-error.ts";
import type { ReviewAttempt } from "../work/attempt.ts";

/** The user whose access decides. */
export interface Requester {
  readonly user: GitLabUser;
  /** The user requested it in a comment. */
  readonly isRequested: boolean;
}

type ServedAttempt = Pick<ReviewAttempt, "gitlab" | "settings" | "signal" | "progress"> & {
  readonly spec: { readonly project: { readonly id: number } };
};

/**
 * Returns why the task is not carried out for this user; undefined if it is. The access level is read from GitLab each
 * time, so a waiting task ends when its author loses access. If GitLab does not respond, the task is retried and
 * nothing is done before. Refused users get no reply: their comments trigger nothing.
 */
export async function checkAccess(
  { gitlab, settings, signal, spec, progress }: ServedAttempt,
  mergeRequest: Pick<MergeRequest, "sourceProjectId">,
  { user, isRequested }: Requester,
): Promise<End | undefined> {
  const { minAccessLevel, forks } = settings;
  const isQuiet = progress.isFirstAttempt;
  let level: number;
  try {
    level = await gitlab.accessLevel(spec.project.id, user.id, signal);
  } catch (error) {
    if (!isRemoteError(error)) throw error;
    return { ...remoteErrorEnd(error), isQuiet };
  }
  const isFork = mergeRequest.sourceProjectId !== spec.project.id;
  const refusal = accessRefusal({ username: user.username, level, minAccessLevel, isFork, isRequested, forks });
  if (!refusal) return undefined;
  // A member who requested it gets a reply.
  if (isRequested && level >= minAccessLevel) return failedEnd(refusal.reason, refusal.message);
  return { kind: "cancelled", message: `not served: ${refusal.message}`, reason: refusal.reason, isQuiet };
}
