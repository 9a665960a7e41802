import { type CodingTaskSpec, claimKeys, createTask, draftTask } from "../../resources/index.ts";
import { iso } from "../statuses.ts";
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
export async function addTask({ client, settings, signal }: Attempt, spec: CodingTaskSpec): Promise<void> {
  const { targetResource: _, ...draft } = spec;
  const receivedTime = iso(client.serverNowMs());
  const reading = draftTask(
    { ...draft, source: "api", receivedTime } as Parameters<typeof draftTask>[0],
    settings.namespace,
  );
  if (reading.kind === "problem") throw new TypeError(`${spec.claimKey} ${reading.problem}`);
  await createTask(client, reading.task, { signal });
}
