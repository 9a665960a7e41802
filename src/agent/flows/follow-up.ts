import type { CodingTaskSpec } from "../../resources/index.ts";
import { claimKeys, type TaskDraft } from "../../tasks/index.ts";
import type { Attempt, ReviewAttempt } from "../work/attempt.ts";

/**
 * Creates the review of the current head, in case no webhook reported it. The user who requested the older review did
 * not request this one: the access of the merge request's author decides.
 */
export async function reviewHead(attempt: ReviewAttempt, headSha: string): Promise<void> {
  const { spec } = attempt;
  const place = { host: spec.project.host, projectId: spec.project.id, iid: spec.mergeRequest.iid };
  const { again: _, requesterId: __, ...rest } = spec;
  const claimKey = claimKeys.review(place, headSha);
  await addTask(attempt, { ...rest, claimKey, mergeRequest: { ...spec.mergeRequest, headSha } });
}

/** Creates a task that follows from another. Repeating it is harmless. */
export async function addTask({ intake, signal }: Attempt, spec: CodingTaskSpec): Promise<void> {
  const { targetResource: _, ...draft } = spec;
  const creation = await intake.create({ ...draft, source: "api", receivedTime: intake.now() } as TaskDraft, {
    signal,
  });
  if (creation.kind === "refused") throw new TypeError(`${spec.claimKey}: ${creation.problem}`);
}
