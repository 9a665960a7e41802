import { keyOf } from "../coordination/index.ts";
import { type ControllerGroup, type Informer, type KubeClient, OwnWrites } from "../kube/index.ts";
import { lastingPauses, type Pause } from "../policy/index.ts";
import {
  type AutomationPause,
  automationPauses,
  builtInKinds,
  type CodingTask,
  codingTasks,
  isClosedTask,
} from "../resources/index.ts";
import type { Clock } from "../time/index.ts";
import { cancelRequest, type Snapshot } from "./decide.ts";
import type { GitLab } from "./gitlab/gitlab.ts";
import { queueKey } from "./queue.ts";
import type { Settings } from "./settings.ts";
import { BusyTasks } from "./work/busy-tasks.ts";
import type { Workers } from "./work/workers.ts";

/** The informers that the agent reads, and its assumptions about other replicas. */
export interface Caches {
  /** Its writes are noted in `ownWrites`. */
  readonly client: KubeClient;
  readonly tasks: Informer<CodingTask, "queue" | "subject">;
  readonly pauses: Informer<AutomationPause>;
  readonly ownWrites: OwnWrites;
  readonly busy: BusyTasks;
}

interface CacheOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly settings: Pick<Settings, "namespace">;
}

export function openCaches(group: ControllerGroup, { client, clock, settings }: CacheOptions): Caches {
  const tasks = group.informer<CodingTask, "queue" | "subject">({
    type: codingTasks,
    query: { namespace: settings.namespace },
    indexes: { queue: (task) => [keyOf(...queueKey(task))], subject: (task) => [subjectKey(task)] },
  });
  const pauses = group.informer({ type: automationPauses });
  const ownWrites = new OwnWrites();
  const busy = new BusyTasks(clock);
  const caches = { client: ownWrites.track(client, [tasks]), tasks, pauses, ownWrites, busy };
  tasks.subscribe((event, task) => {
    // A task that is closed or deleted no longer blocks the others of its queue.
    if (event === "DELETED" || isClosedTask(task)) for (const other of listQueue(task, caches)) busy.remove(other);
  });
  return caches;
}

interface ObserveDeps {
  readonly caches: Caches;
  readonly workers: Pick<Workers, "workOn">;
  readonly gitlab: Pick<GitLab, "mergeRequest">;
  readonly settings: Pick<Settings, "keepFinishedMs">;
}

/** Reads everything that the next step of `task` depends on. */
export async function observe(task: CodingTask, deps: ObserveDeps, signal: AbortSignal): Promise<Snapshot> {
  const { caches, workers, settings } = deps;
  const { uid = "" } = task.metadata;
  // The state of the work may change while GitLab is read.
  const newerHead = workers.workOn(task).state === "running" ? await findNewerHead(task, deps, signal) : undefined;
  return {
    task,
    queue: listQueue(task, caches).filter(({ metadata }) => metadata.uid !== uid),
    pauses: activePauses(caches),
    work: workers.workOn(task),
    busyMs: caches.busy.remainingMs(task),
    newerHead,
    nowMs: caches.client.serverNowMs(),
    keepFinishedMs: settings.keepFinishedMs,
  };
}

/**
 * Returns the head of the merge request if it is another commit that waits for review. Only GitLab can order two
 * commits.
 */
async function findNewerHead(
  task: CodingTask,
  { caches, gitlab }: ObserveDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { spec } = task;
  if (spec.type !== "Review" || cancelRequest(task) !== undefined) return undefined;
  const { iid, headSha } = spec.mergeRequest;
  const isOther = ({ spec }: CodingTask) => spec.type === "Review" && spec.mergeRequest.headSha !== headSha;
  if (!listOpen(listQueue(task, caches)).some(isOther)) return undefined;
  const current = await gitlab.mergeRequest({ projectId: spec.project.id, iid }, signal);
  return current.headSha === headSha ? undefined : current.headSha;
}

/** All active pauses. Coding tasks are on branches, so the spelling of other kinds does not matter. */
export function activePauses({ pauses, client }: Caches): readonly Pause[] {
  return lastingPauses(pauses.list(), client.serverNowMs(), builtInKinds);
}

/** Every task in the queue of `task`, itself included. */
export function listQueue(task: CodingTask, { tasks }: Pick<Caches, "tasks">): readonly CodingTask[] {
  return tasks.byIndex("queue", keyOf(...queueKey(task)));
}

/** Every task on the same merge request or issue as `task`, itself included. */
export function listRelated(task: CodingTask, { tasks }: Pick<Caches, "tasks">): readonly CodingTask[] {
  return tasks.byIndex("subject", subjectKey(task));
}

export function listOpen(tasks: readonly CodingTask[]): readonly CodingTask[] {
  return tasks.filter((task) => !isClosedTask(task));
}

function subjectKey({ spec }: CodingTask): string {
  const { host, id } = spec.project;
  return spec.type === "Issue" ? `${spec.issue.site}/${spec.issue.key}` : `${host}/${id}!${spec.mergeRequest.iid}`;
}
