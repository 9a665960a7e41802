import type { CodingTaskSpec } from "../../resources/index.ts";
import { claimKeys, type TaskDraft } from "../../tasks/index.ts";
import type { Attempt, ReviewAttempt } from "../work/attempt.ts";

/**
 * Has the commit that is the head by now reviewed, should nobody have told us of it. Who asked for the older one did not
 * ask for this one: the access of the merge request's author decides.
 */
export async function reviewHead(attempt: ReviewAttempt, headSha: string): Promise<void> {
  const { spec } = attempt;
  const place = { host: spec.project.host, projectId: spec.project.id, iid: spec.mergeRequest.iid };
  const { again: _, requesterId: __, ...rest } = spec;
  const claimKey = claimKeys.review(place, headSha);
  await addTask(attempt, { ...rest, claimKey, mergeRequest: { ...spec.mergeRequest, headSha } });
}

/** Makes a task that follows from another. Making it twice makes it once. */
export async function addTask({ intake, signal }: Attempt, spec: CodingTaskSpec): Promise<void> {
  const { targetResource: _, ...draft } = spec;
  const creation = await intake.create({ ...draft, source: "api", receivedTime: intake.now() } as TaskDraft, {
    signal,
  });
  if (creation.kind === "refused") throw new TypeError(`${spec.claimKey}: ${creation.problem}`);
}
