import { setMaxListeners } from "node:events";
import { keyOf, type Locks } from "../coordination/index.ts";
import {
  Controller,
  informer,
  keysFrom,
  lostEventMs,
  OwnWrites,
  objectKey,
  type Problem,
  refOfKey,
} from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { lastingPauses } from "../policy/index.ts";
import { automationPauses, builtInKinds, type CodingTask, codingTasks } from "../resources/index.ts";
import { stallReporter } from "../stalls/index.ts";
import { taskIntake } from "../tasks/index.ts";
import type { Metrics } from "../telemetry/index.ts";
import { announcer } from "./announce.ts";
import { cancelRequest, decide } from "./decide.ts";
import { agentMetrics } from "./metrics.ts";
import { pauseChanges } from "./pause-changes.ts";
import { perform } from "./perform.ts";
import { byCreation, isClosed, queueKey } from "./snapshot.ts";
import type { AttemptDeps } from "./work/attempt.ts";
import { redactedGitLab, redactedJira, redactedLedger, redactedWorkshop } from "./work/redacted.ts";
import { runAttempt } from "./work/run-attempt.ts";
import { Workers } from "./work/workers.ts";

export interface AgentOptions extends Omit<AttemptDeps, "relatedTasks" | "pauses" | "intake"> {
  readonly locks: Locks;
  readonly ledger: Ledger;
  readonly metrics: Metrics;
}

export interface Agent {
  readonly ready: Promise<void>;
  readonly isReady: boolean;
  /** Why stalled tasks cannot be reported as such; undefined while they can. */
  readonly problem: string | undefined;
  /** Starts nothing new, hands running tasks over, and stops the watches. */
  stop(options: { readonly deadlineMs: number }): Promise<void>;
}

/**
 * Another replica works on the task. If that replica dies, its lock expires, and this replica notices after this delay.
 */
const busyMs = 5_000;

/** A replica that has just closed a task still releases its lock, and is waited for; a replica at work is not. */
const handOverMs = 500;

/** Works on coding tasks until `stop`. Any number of replicas may run. */
export function startAgent(given: AgentOptions): Agent {
  const { redact } = given;
  const options: AgentOptions = {
    ...given,
    gitlab: redactedGitLab(given.gitlab, redact),
    jira: given.jira && redactedJira(given.jira, redact),
    workshop: redactedWorkshop(given.workshop, redact),
    ledger: redactedLedger(given.ledger, redact),
  };
  const { client, clock, random, log, ledger, settings, gitlab } = options;
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const problem = (problem: Problem) => log.warn("agent problem", problem);
  const follow = { client, clock, random, problem, signal: stop.signal };
  const tasks = informer<CodingTask, "queue" | "subject">({
    ...follow,
    type: codingTasks,
    query: { namespace: settings.namespace },
    indexes: { queue: (task) => [keyOf(...queueKey(task))], subject: subjectOf },
  });
  const allPauses = informer({ ...follow, type: automationPauses });
  const ownWrites = new OwnWrites();
  tasks.subscribe((event, task) => event === "DELETED" && ownWrites.forget(task));
  const nowMs = () => client.serverNowMs();
  // Coding tasks are on branches, so the spelling of other kinds does not matter.
  const pauses = () => lastingPauses(allPauses.list(), nowMs(), builtInKinds);
  const intake = taskIntake({ client, ledger, namespace: settings.namespace, log });
  const announce = announcer({ ledger, log, metrics: agentMetrics(options.metrics, { tasks, nowMs }), nowMs });
  const relatedTasks = (task: CodingTask) => subjectOf(task).flatMap((subject) => tasks.byIndex("subject", subject));
  const queueWith = (task: CodingTask) => tasks.byIndex("queue", keyOf(...queueKey(task)));
  /** Until when another replica is assumed to work on a task, by the local clock. */
  const busyUntil = new Map<string, number>();
  tasks.subscribe((event, task) => {
    // A task that is closed or deleted no longer blocks the others of its queue.
    if (event === "DELETED" || isClosed(task))
      for (const { metadata } of queueWith(task)) busyUntil.delete(metadata.uid ?? "");
  });

  const stalls = stallReporter({ ...options, stage: "agent" });
  const subject = {
    type: codingTasks,
    noun: "task",
    initialStatus: { phase: "Pending" },
    find: (key: string) => tasks.get(refOfKey(key)),
    redact: (text: string) => redact(text),
  };
  /** Attempts run outside of the controller, whose reconciliation succeeds while they fail. */
  const attempts = stalls.watch(subject);
  const workers = new Workers({
    size: settings.concurrency,
    async work(task, interrupted) {
      const uid = task.metadata.uid ?? "";
      try {
        const lockWaitMs = queueWith(task).some(isClosed) ? handOverMs : 0;
        const outcome = await runAttempt(
          task,
          { ...options, intake, relatedTasks, pauses, announce, lockWaitMs },
          interrupted,
        );
        attempts.succeeded(objectKey(task));
        if (outcome === "busy" || outcome === "left") busyUntil.set(uid, clock.now() + busyMs);
      } catch (error) {
        busyUntil.set(uid, clock.now() + busyMs);
        attempts.failed(objectKey(task), error, busyMs);
        log.warn("task attempt aborted", { task: task.metadata.name, error });
      }
    },
    onEnd: (task) => controller.add(objectKey(task)),
  });
  const deps = { client, gitlab, workers, announce, ownWrites, settings, redact, log };

  const controller = new Controller({
    name: "tasks",
    clock,
    random,
    problem,
    concurrency: 8,
    sources: [
      // Every change of a task can change the position of the others in its queue.
      keysFrom(tasks, (task) => [objectKey(task), ...queueWith(task).filter(isOpen).map(objectKey)]),
      pauseChanges(allPauses, {
        clock,
        nowMs,
        keys: () => tasks.list().filter(isOpen).sort(byCreation).map(objectKey),
      }),
    ],
    async reconcile(key, signal) {
      const task = tasks.get(refOfKey(key));
      if (!task) return undefined;
      if (ownWrites.isOutdated(task)) return { kind: "skipped", inMs: lostEventMs };
      const uid = task.metadata.uid ?? "";
      if (workers.isRunning(uid)) return interruptIfNeeded(task);
      const leftMs = (busyUntil.get(uid) ?? 0) - clock.now();
      if (leftMs > 0 && !isClosed(task)) return leftMs;
      busyUntil.delete(uid);
      const queue = queueWith(task).filter((other) => other.metadata.uid !== uid);
      const { keepFinishedMs } = settings;
      const decision = decide({ task, queue, pauses: pauses(), nowMs: nowMs(), keepFinishedMs });
      return perform(decision, task, deps, signal);
    },
    stalls: stalls.watch(subject),
  });

  /** Stops a running attempt that is cancelled or superseded. */
  async function interruptIfNeeded(task: CodingTask): Promise<undefined> {
    const { uid = "" } = task.metadata;
    const by = cancelRequest(task);
    if (by !== undefined) workers.interrupt(uid, { kind: "cancelled", by });
    const head = await newerHead(task);
    if (head !== undefined) workers.interrupt(uid, { kind: "superseded", by: head });
  }

  /**
   * Returns the head of the merge request if it is another commit that waits for review. Only GitLab can order two
   * commits.
   */
  async function newerHead(task: CodingTask): Promise<string | undefined> {
    const { spec } = task;
    if (spec.type !== "Review") return undefined;
    const { iid, headSha } = spec.mergeRequest;
    const others = queueWith(task).filter(isOpen);
    const isOther = ({ spec }: CodingTask) => spec.type === "Review" && spec.mergeRequest.headSha !== headSha;
    if (!others.some(isOther)) return undefined;
    const now = await gitlab.mergeRequest({ projectId: spec.project.id, iid });
    return now.headSha === headSha ? undefined : now.headSha;
  }

  return {
    ready: controller.ready,
    get isReady() {
      return controller.isReady;
    },
    get problem() {
      return stalls.problem;
    },
    async stop({ deadlineMs }) {
      await controller.stop({ deadlineMs });
      await workers.stop();
      await stalls.stop();
      stop.abort();
    },
  };
}

/** The merge request or issue that a task is about. */
function subjectOf({ spec }: CodingTask): readonly string[] {
  const { host, id } = spec.project;
  return [spec.type === "Issue" ? `${spec.issue.site}/${spec.issue.key}` : `${host}/${id}!${spec.mergeRequest.iid}`];
}

function isOpen(task: CodingTask): boolean {
  return !isClosed(task);
}
