import {
  type CodingTask,
  type CodingTaskSpec,
  claimKeys,
  codingTasks,
  draftTask,
  taskName,
} from "../../resources/index.ts";
import { iso } from "../statuses.ts";
import type { Attempt, ReviewAttempt } from "../work/attempt.ts";

/**
 * Has the commit that is the head by now reviewed, should nobody have told us of it. A commit that was the head before,
 * was passed over then, and is the head again is a task of its own.
 */
export async function reviewHead(attempt: ReviewAttempt, headSha: string): Promise<void> {
  const { spec, client, settings } = attempt;
  const { namespace } = settings;
  const place = { host: spec.project.host, projectId: spec.project.id, iid: spec.mergeRequest.iid };
  const claimKey = claimKeys.review(place, headSha);
  const known = await client.get(codingTasks, { namespace, name: taskName(claimKey) });
  if (known && known.status?.phase !== "Superseded") return;
  const key = known ? `${claimKey}:after:${spec.mergeRequest.headSha}` : claimKey;
  const { again: _, ...rest } = spec;
  await addTask(attempt, { ...rest, claimKey: key, mergeRequest: { ...spec.mergeRequest, headSha } });
}

/** Makes a task that follows from another. Making it twice makes it once. */
export async function addTask(
  { client, settings, signal }: Attempt,
  spec: CodingTaskSpec,
): Promise<{ readonly task: CodingTask; readonly isNew: boolean }> {
  const { targetResource: _, ...draft } = spec;
  const receivedTime = iso(client.serverNowMs());
  const reading = draftTask(
    { ...draft, source: "api", receivedTime } as Parameters<typeof draftTask>[0],
    settings.namespace,
  );
  if (reading.kind === "problem") throw new TypeError(`${spec.claimKey} ${reading.problem}`);
  const outcome = await client.create(codingTasks, reading.task, { signal });
  return outcome.kind === "created" ? { task: outcome.object, isNew: true } : { task: reading.task, isNew: false };
}
