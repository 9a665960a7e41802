import type { Locks } from "../coordination/index.ts";
import {
  controllerGroup,
  keysFrom,
  objectKey,
  problemLogger,
  type RunningControllers,
  reconcile,
  reconcileCached,
  refOf,
  refOfKey,
  type StallWatch,
} from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { type CodingTask, codingTasks, isClosedTask } from "../resources/index.ts";
import { stallReporter } from "../stalls/index.ts";
import { taskIntake } from "../tasks/index.ts";
import type { Metrics } from "../telemetry/index.ts";
import { type AnnounceTask, announcer } from "./announce.ts";
import { decide } from "./decide.ts";
import { agentMetrics } from "./metrics.ts";
import { activePauses, type Caches, listOpen, listQueue, listRelated, observe, openCaches } from "./observe.ts";
import { pauseChanges } from "./pause-changes.ts";
import { type Deps, perform } from "./perform.ts";
import { byCreation } from "./queue.ts";
import type { AttemptDeps } from "./work/attempt.ts";
import { busyMs } from "./work/busy-tasks.ts";
import { redactedGitLab, redactedJira, redactedLedger, redactedWorkshop } from "./work/redacted.ts";
import { runAttempt } from "./work/run-attempt.ts";
import { Workers } from "./work/workers.ts";

export interface AgentOptions extends Omit<AttemptDeps, "relatedTasks" | "pauses" | "intake"> {
  readonly locks: Locks;
  readonly ledger: Ledger;
  readonly metrics: Metrics;
}

export type Agent = RunningControllers;

/** A replica that has just closed a task still releases its lock, and is waited for; a replica at work is not. */
const handOverMs = 500;

/** Works on coding tasks until `stop`. Any number of replicas may run. */
export function startAgent(given: AgentOptions): Agent {
  const options = redactAll(given);
  const { client, clock, random, log, ledger, redact } = options;
  const group = controllerGroup({ client, clock, random, problem: problemLogger("agent problem", { log, clock }) });
  const caches = openCaches(group, options);
  const { tasks, pauses } = caches;
  const nowMs = () => client.serverNowMs();
  const announce = announcer({ ledger, log, metrics: agentMetrics(options.metrics, { tasks, nowMs }), nowMs });
  const stalls = stallReporter({ ...options, stage: "agent" });
  const subject = {
    type: codingTasks,
    noun: "task",
    initialStatus: { phase: "Pending" },
    find: (key: string) => tasks.get(refOfKey(key)),
    redact: (text: string) => redact(text),
  };
  const workers = openWorkers(options, {
    ...{ caches, announce, stalls: stalls.watch(subject) },
    onEnd: (task) => controller.add(objectKey(task)),
  });
  const deps = { ...options, caches, workers, announce };
  const controller = group.controller({
    name: "tasks",
    concurrency: 8,
    sources: [
      // Every change of a task can change the position of the others in its queue.
      keysFrom(tasks, (task) => [objectKey(task), ...listOpen(listQueue(task, caches)).map(objectKey)]),
      pauseChanges(pauses, {
        clock,
        nowMs,
        keys: () => [...listOpen(tasks.list())].sort(byCreation).map(objectKey),
      }),
    ],
    reconcile: (key, signal) =>
      reconcileCached(tasks.get(refOfKey(key)), caches.ownWrites, (task) => reconcileTask(task, deps, signal)),
    stalls: stalls.watch(subject),
  });
  return group.running({ stalls, drain: () => workers.stop() });
}

/** Removes secrets from everything that people read. */
function redactAll(options: AgentOptions): AgentOptions {
  const { redact } = options;
  return {
    ...options,
    gitlab: redactedGitLab(options.gitlab, redact),
    jira: options.jira && redactedJira(options.jira, redact),
    workshop: redactedWorkshop(options.workshop, redact),
    ledger: redactedLedger(options.ledger, redact),
  };
}

interface WorkersDeps {
  readonly caches: Caches;
  readonly announce: AnnounceTask;
  /** Attempts run outside of the controller, whose reconciliation succeeds while they fail. */
  readonly stalls: StallWatch;
  readonly onEnd: (task: CodingTask) => void;
}

function openWorkers(options: AgentOptions, { caches, announce, stalls, onEnd }: WorkersDeps): Workers {
  const { log, ledger, settings } = options;
  const { client, busy, tasks } = caches;
  // No attempt at a deleted task follows that would end its stall.
  tasks.subscribe((event, task) => {
    if (event === "DELETED") stalls.succeeded(objectKey(task));
  });
  const deps = {
    ...options,
    client,
    announce,
    intake: taskIntake({ client, ledger, namespace: settings.namespace, log }),
    relatedTasks: (task: CodingTask) => listRelated(task, caches),
    pauses: () => activePauses(caches),
  };
  return new Workers({
    size: settings.concurrency,
    async work(task, interrupted) {
      try {
        const lockWaitMs = listQueue(task, caches).some(isClosedTask) ? handOverMs : 0;
        const outcome = await runAttempt(task, { ...deps, lockWaitMs }, interrupted);
        stalls.succeeded(objectKey(task));
        if (outcome === "busy" || outcome === "left") busy.add(task);
      } catch (error) {
        busy.add(task);
        if (tasks.get(refOf(task))) stalls.failed(objectKey(task), error, busyMs);
        log.warn("task attempt aborted", { task: task.metadata.name, error });
      }
    },
    onEnd,
  });
}

async function reconcileTask(cached: CodingTask, deps: Deps, signal: AbortSignal): Promise<number | undefined> {
  return reconcile(await observe(cached, deps, signal), {
    decide,
    perform: (action, snapshot) => perform(action, snapshot, deps, signal),
    observeAgain: async (after) => after ?? observeCached(cached, deps, signal),
  });
}

/** Observes the task again, unless its current version is still to arrive as an event. */
async function observeCached(observed: CodingTask, deps: Deps, signal: AbortSignal) {
  const { tasks, ownWrites } = deps.caches;
  const task = tasks.get(refOf(observed));
  return task && !ownWrites.isOutdated(task) ? observe(task, deps, signal) : undefined;
}
