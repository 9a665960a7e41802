import { isDeepStrictEqual } from "node:util";
import type { KubeClient, OwnWrites } from "../kube/index.ts";
import { type CodingTask, type CodingTaskStatus, codingTasks } from "../resources/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { accessRefusal } from "./access.ts";
import type { AnnounceTask } from "./announce.ts";
import type { Decision } from "./decide.ts";
import type { GitLab } from "./gitlab/gitlab.ts";
import { isRemoteError } from "./remote-error.ts";
import type { Settings } from "./settings.ts";
import { ended, iso, isWaitingForPause, pending, waitingAfterPause } from "./statuses.ts";
import { type Redact, redactedStatus } from "./work/redacted.ts";
import type { Workers } from "./work/workers.ts";

export interface Deps {
  readonly client: KubeClient;
  readonly gitlab: GitLab;
  readonly workers: Workers;
  readonly announce: AnnounceTask;
  readonly ownWrites: OwnWrites;
  readonly settings: Pick<Settings, "minAccessLevel" | "forks">;
  readonly redact: Redact;
  readonly log: Logger;
}

/** Does what was decided, unless it takes long: that is left to the workers. Returns when to look again. */
export async function perform(
  decision: Decision,
  task: CodingTask,
  deps: Deps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { workers, client } = deps;
  const { name = "", namespace = "", uid = "", resourceVersion = "" } = task.metadata;
  if (decision.do !== "work") workers.withdraw(uid);
  switch (decision.do) {
    case "look-again":
      return decision.inMs;
    case "work":
      // What waits for a free place must not go on saying that it is paused.
      if (!workers.offer(task) && isWaitingForPause(task)) {
        await writeStatus(task, waitingAfterPause(task), deps, signal);
      }
      return undefined;
    case "pause":
      if (isDeepStrictEqual(task.status, decision.status)) return undefined;
      await deps.announce.pausing(task, decision.paused);
      await writeStatus(task, decision.status, deps, signal);
      return undefined;
    case "wait":
      await writeStatus(task, decision.status, deps, signal);
      return undefined;
    case "settle":
      return settle(task, decision.status, deps, signal);
    case "acknowledge":
      return acknowledge(task, deps, signal);
    case "remove":
      await client.delete(codingTasks, { name, namespace }, { preconditions: { uid, resourceVersion } }, { signal });
      return undefined;
  }
}

/**
 * A mark on the comment says at once that it was seen. Setting it twice sets it once, whoever does so. The comment of a
 * user who is not served is not marked, and its task ends here; the work itself looks the access up again.
 */
async function acknowledge(task: CodingTask, deps: Deps, signal: AbortSignal): Promise<number | undefined> {
  const { spec } = task;
  if (spec.type !== "Command") return undefined;
  const { gitlab, client, log, settings } = deps;
  const place = { projectId: spec.project.id, iid: spec.mergeRequest.iid };
  let result = {};
  try {
    const level = await gitlab.accessLevel(spec.project.id, spec.note.authorId, signal);
    const refusal = accessRefusal({
      ...{ username: spec.requestedBy ?? "", level, minAccessLevel: settings.minAccessLevel },
      // Forks are looked at when the work begins: a member who asks for one is told.
      ...{ isFork: false, isRequested: true, forks: settings.forks },
    });
    if (refusal) {
      const end = { kind: "cancelled", message: `not served: ${refusal.message}`, reason: refusal.reason } as const;
      return await settle(task, ended(task, end, client.serverNowMs()), deps, signal);
    }
    await gitlab.award(place, spec.note.id, "eyes", signal);
  } catch (error) {
    if (!isRemoteError(error) || error.kind === "unavailable") throw error;
    // The mark is a courtesy. Whether the comment is acted on is decided when the work begins.
    log.warn("a comment could not be marked as seen", { task: task.metadata.name, error });
    result = { not: error.message };
  }
  const step = { name: "acknowledge", completedAt: iso(client.serverNowMs()), result };
  await writeStatus(task, pending(task, [step]), deps, signal);
  return undefined;
}

async function settle(task: CodingTask, status: CodingTaskStatus, deps: Deps, signal: AbortSignal) {
  await deps.announce.ending(task, status);
  const written = await writeStatus(task, status, deps, signal);
  if (written) deps.announce.ended(written);
  return undefined;
}

async function writeStatus(
  task: CodingTask,
  status: CodingTaskStatus,
  { client, ownWrites, redact }: Deps,
  signal: AbortSignal,
): Promise<CodingTask | undefined> {
  const wanted = await redactedStatus(status, redact);
  if (isDeepStrictEqual(task.status, wanted)) return undefined;
  const outcome = await client.update(codingTasks, { ...task, status: wanted }, { subresource: "status", signal });
  // If somebody was faster, the watch brings what they wrote.
  if (outcome.kind !== "updated") return undefined;
  ownWrites.note(outcome.object);
  return outcome.object;
}
