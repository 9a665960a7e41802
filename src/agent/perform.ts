import { isDeepStrictEqual } from "node:util";
import { deleteExactly, iso, type Performed, writeStatus } from "../kube/index.ts";
import { type CodingTask, type CodingTaskStatus, codingTasks } from "../resources/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { accessRefusal } from "./access.ts";
import type { AnnounceTask } from "./announce.ts";
import type { Action, Snapshot } from "./decide.ts";
import type { GitLab } from "./gitlab/gitlab.ts";
import type { Caches } from "./observe.ts";
import { isRemoteError } from "./remote-error.ts";
import type { Settings } from "./settings.ts";
import { endedStatus, pendingStatus } from "./statuses.ts";
import { type Redact, redactedStatus } from "./work/redacted.ts";
import type { Workers } from "./work/workers.ts";

export interface Deps {
  readonly caches: Caches;
  readonly gitlab: GitLab;
  readonly workers: Workers;
  readonly announce: AnnounceTask;
  readonly settings: Pick<Settings, "minAccessLevel" | "forks" | "keepFinishedMs">;
  readonly redact: Redact;
  readonly log: Logger;
}

/** Performs one action; the workers do the long work. A written status arrives as an event, which the next step follows from. */
export async function perform(
  action: Action,
  snapshot: Snapshot,
  deps: Deps,
  signal: AbortSignal,
): Promise<Performed<Snapshot>> {
  const { task } = snapshot;
  const { workers, caches } = deps;
  // A worker that became free may have started the task since, or its attempt may have ended.
  if (workers.workOn(task).state !== snapshot.work.state) return { kind: "stale" };
  switch (action.do) {
    case "work":
      workers.offer(task);
      return afterWorkChange(snapshot, workers);
    case "withdraw":
      workers.withdraw(task);
      return afterWorkChange(snapshot, workers);
    case "interrupt":
      workers.interrupt(task, action.why);
      return afterWorkChange(snapshot, workers);
    case "pause":
      await setStatus(task, action.status, deps, {
        signal,
        record: () => deps.announce.recordPause(task, action.paused),
      });
      break;
    case "wait":
      await setStatus(task, action.status, deps, { signal });
      break;
    case "settle":
      await settle(task, action.status, deps, signal);
      break;
    case "acknowledge":
      await acknowledge(task, deps, signal);
      break;
    case "remove":
      await deleteExactly(caches.client, codingTasks, task, { signal });
      break;
  }
  return { kind: "waiting" };
}

/** Workers that are stopping accept no task: then there is nothing more to do here. */
function afterWorkChange(snapshot: Snapshot, workers: Workers): Performed<Snapshot> {
  const work = workers.workOn(snapshot.task);
  return work.state === snapshot.work.state ? { kind: "waiting" } : { kind: "done", snapshot: { ...snapshot, work } };
}

/**
 * Marks the comment, so that its author sees at once that it was received. Repeating it is harmless. The comment of a
 * user who is not served gets no mark, and its task ends here; the attempt checks the access again.
 */
async function acknowledge(task: CodingTask, deps: Deps, signal: AbortSignal): Promise<void> {
  const { spec } = task;
  if (spec.type !== "Command") return;
  const { gitlab, caches, log, settings } = deps;
  const ref = { projectId: spec.project.id, iid: spec.mergeRequest.iid };
  let result = {};
  try {
    const level = await gitlab.accessLevel(spec.project.id, spec.note.authorId, signal);
    const refusal = accessRefusal({
      ...{ username: spec.requestedBy ?? "", level, minAccessLevel: settings.minAccessLevel },
      // Forks are checked when the work begins: a member who requested the work gets a reply.
      ...{ isFork: false, isRequested: true, forks: settings.forks },
    });
    if (refusal) {
      const end = { kind: "cancelled", message: `not served: ${refusal.message}`, reason: refusal.reason } as const;
      return await settle(task, endedStatus(task, end, caches.client.serverNowMs()), deps, signal);
    }
    await gitlab.award(ref, spec.note.id, "eyes", signal);
  } catch (error) {
    if (!isRemoteError(error) || error.kind === "unavailable") throw error;
    // The mark is optional. Whether the comment is acted on is decided when the work begins.
    log.warn("comment acknowledgement failed", { task: task.metadata.name, error });
    result = { not: error.message };
  }
  const step = { name: "acknowledge", completedAt: iso(caches.client.serverNowMs()), result };
  await setStatus(task, pendingStatus(task, [step]), deps, { signal });
}

async function settle(task: CodingTask, status: CodingTaskStatus, deps: Deps, signal: AbortSignal): Promise<void> {
  const record = () => deps.announce.recordEnd(task, status);
  const written = await setStatus(task, status, deps, { signal, record });
  if (written) deps.announce.reportEnd(written);
}

interface SetStatusOptions {
  readonly signal: AbortSignal;
  /** Appends the change to the ledger, before it is written. */
  readonly record?: () => Promise<void>;
}

/** Writes the status if it differs. After a conflict, the watch brings the newer object. */
async function setStatus(
  task: CodingTask,
  status: CodingTaskStatus,
  { caches, redact }: Deps,
  { signal, record }: SetStatusOptions,
): Promise<CodingTask | undefined> {
  const next = await redactedStatus(status, redact);
  if (isDeepStrictEqual(task.status, next)) return undefined;
  await record?.();
  return writeStatus(caches.client, codingTasks, { ...task, status: next }, signal);
}
