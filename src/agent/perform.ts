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
import { endedStatus, iso, isPaused, pendingStatus, resumedStatus } from "./statuses.ts";
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

/** Performs the decision; the workers do the long work. Returns when to reconcile again. */
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
      // A task that waits for a free worker must not be displayed as paused.
      if (!workers.offer(task) && isPaused(task)) {
        await writeStatus(task, resumedStatus(task), deps, signal);
      }
      return undefined;
    case "pause":
      if (isDeepStrictEqual(task.status, decision.status)) return undefined;
      await deps.announce.recordPause(task, decision.paused);
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
 * Marks the comment, so that its author sees at once that it was received. Repeating it is harmless. The comment of a
 * user who is not served gets no mark, and its task ends here; the attempt checks the access again.
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
      // Forks are checked when the work begins: a member who asks for one gets an answer.
      ...{ isFork: false, isRequested: true, forks: settings.forks },
    });
    if (refusal) {
      const end = { kind: "cancelled", message: `not served: ${refusal.message}`, reason: refusal.reason } as const;
      return await settle(task, endedStatus(task, end, client.serverNowMs()), deps, signal);
    }
    await gitlab.award(place, spec.note.id, "eyes", signal);
  } catch (error) {
    if (!isRemoteError(error) || error.kind === "unavailable") throw error;
    // The mark is optional. Whether the comment is acted on is decided when the work begins.
    log.warn("comment acknowledgement failed", { task: task.metadata.name, error });
    result = { not: error.message };
  }
  const step = { name: "acknowledge", completedAt: iso(client.serverNowMs()), result };
  await writeStatus(task, pendingStatus(task, [step]), deps, signal);
  return undefined;
}

async function settle(task: CodingTask, status: CodingTaskStatus, deps: Deps, signal: AbortSignal) {
  await deps.announce.recordEnd(task, status);
  const written = await writeStatus(task, status, deps, signal);
  if (written) deps.announce.reportEnd(written);
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
  // After a conflict, the watch brings the newer object.
  if (outcome.kind !== "updated") return undefined;
  ownWrites.note(outcome.object);
  return outcome.object;
}
