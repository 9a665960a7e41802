import type { Informer } from "../kube/index.ts";
import type { CodingTask, CodingTaskSpec } from "../resources/index.ts";
import type { Metrics } from "../telemetry/index.ts";
import { type ClosedTaskPhase, closedTaskPhases } from "./snapshot.ts";
import { isWaitingForPause } from "./statuses.ts";

export interface AgentMetrics {
  /** Work on it began, for the first time. */
  began(task: CodingTask, nowMs: number): void;
  ended(task: CodingTask): void;
}

type TaskType = CodingTaskSpec["type"];
const types = ["Review", "Command", "Issue"] as const satisfies readonly TaskType[];
/** `Paused` waits for people, and is not for them to worry about as `Waiting` is. */
const openPhases = ["Pending", "Waiting", "Paused", "Running"] as const;
/** Seconds. Work takes as long as an agent takes; waits begin at milliseconds. */
const buckets = [0.05, 0.25, 1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600];

/** Declares the agent's metrics. Waiting and working are told apart: a slow agent and a long line need different help. */
export function agentMetrics(
  metrics: Metrics,
  { tasks, nowMs }: { readonly tasks: Pick<Informer<CodingTask>, "list">; readonly nowMs: () => number },
): AgentMetrics {
  metrics.gauge({
    name: "agent_open_tasks",
    help: "Coding tasks that are not closed, by phase.",
    labels: { phase: openPhases },
    collect(gauge) {
      const all = tasks.list();
      for (const phase of openPhases) {
        gauge.with({ phase }).set(all.filter((task) => phaseOf(task) === phase).length);
      }
    },
  });
  metrics.gauge({
    name: "agent_oldest_task_seconds",
    help: "How old the oldest task in a phase is: since it was received, or Running since it was begun; 0 if none is.",
    labels: { phase: openPhases },
    collect(gauge) {
      const since = sinceOf(tasks.list());
      for (const phase of openPhases) gauge.with({ phase }).set(Math.max(0, nowMs() - since[phase]) / 1_000);
    },
  });
  const waited = metrics.histogram({
    name: "coding_tasks_wait_seconds",
    help: "From when a task was received until work on it first began.",
    labels: { type: types },
    buckets,
  });
  const reviews = metrics.counter({
    name: "reviews_total",
    help: "Reviews that were closed, by how they ended.",
    labels: { outcome: closedTaskPhases },
  });
  const reviewed = metrics.histogram({
    name: "reviews_duration_seconds",
    help: "From the first beginning of a review until its end, without the wait before.",
    labels: { outcome: closedTaskPhases },
    buckets,
  });
  const tasksEnded = metrics.counter({
    name: "coding_tasks_total",
    help: "Commands and issues that were closed, by how they ended.",
    labels: { type: types, outcome: closedTaskPhases },
  });
  const worked = metrics.histogram({
    name: "coding_tasks_duration_seconds",
    help: "From the first beginning of a command or issue until its end, without the wait before.",
    labels: { type: types, outcome: closedTaskPhases },
    buckets,
  });
  return {
    began({ spec }, nowMs) {
      waited.with({ type: spec.type }).observe(Math.max(0, nowMs - Date.parse(spec.receivedTime)) / 1_000);
    },
    ended({ spec, status }) {
      const outcome = (status?.phase ?? "Completed") as ClosedTaskPhase;
      const seconds = secondsOf(status);
      if (spec.type === "Review") {
        reviews.with({ outcome }).inc();
        reviewed.with({ outcome }).observe(seconds);
        return;
      }
      tasksEnded.with({ type: spec.type, outcome }).inc();
      worked.with({ type: spec.type, outcome }).observe(seconds);
    },
  };
}

function sinceOf(tasks: readonly CodingTask[]): Record<(typeof openPhases)[number], number> {
  const never = Number.POSITIVE_INFINITY;
  const since = { Pending: never, Waiting: never, Paused: never, Running: never };
  for (const task of tasks) {
    const { spec, status } = task;
    const phase = openPhases.find((open) => open === phaseOf(task));
    if (!phase) continue;
    const from = status?.phase === "Running" ? status.startTime : spec.receivedTime;
    since[phase] = Math.min(since[phase], Date.parse(from));
  }
  return since;
}

function phaseOf(task: CodingTask): string {
  return isWaitingForPause(task) ? "Paused" : (task.status?.phase ?? "Pending");
}

function secondsOf(status: CodingTask["status"]): number {
  if (!status || !("startTime" in status) || !("completionTime" in status)) return 0;
  return Math.max(0, Date.parse(status.completionTime) - Date.parse(status.startTime ?? "")) / 1_000;
}
