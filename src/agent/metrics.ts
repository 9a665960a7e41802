import type { Informer } from "../kube/index.ts";
import type { CodingTask, CodingTaskSpec } from "../resources/index.ts";
import type { Metrics } from "../telemetry/index.ts";
import { type ClosedTaskPhase, closedTaskPhases } from "./queue.ts";
import { isPaused } from "./statuses.ts";

export interface AgentMetrics {
  /** The first attempt began. */
  countStart(task: CodingTask, nowMs: number): void;
  countEnd(task: CodingTask): void;
}

type TaskType = CodingTaskSpec["type"];
const types = ["Review", "Command", "Issue"] as const satisfies readonly TaskType[];
/** `Paused` tasks wait for people and raise no alert, unlike `Waiting` ones. */
const openPhases = ["Pending", "Waiting", "Paused", "Running"] as const;
/** In seconds. The work takes as long as the coder takes; waits start at milliseconds. */
const buckets = [0.05, 0.25, 1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600];

/**
 * Declares the agent's metrics. Waiting and working are separate: a slow coder and a long queue need different
 * remedies.
 */
export function agentMetrics(
  metrics: Metrics,
  { tasks, nowMs }: { readonly tasks: Pick<Informer<CodingTask>, "list">; readonly nowMs: () => number },
): AgentMetrics {
  metrics.gauge({
    name: "agent_open_tasks",
    help: "Open coding tasks by phase.",
    labels: { phase: openPhases },
    collect(gauge) {
      const all = tasks.list();
      for (const phase of openPhases) {
        gauge.with({ phase }).set(all.filter((task) => displayPhase(task) === phase).length);
      }
    },
  });
  metrics.gauge({
    name: "agent_oldest_task_seconds",
    help: "Age of the oldest task in a phase: since it was received or, if Running, since it started; 0 without tasks.",
    labels: { phase: openPhases },
    collect(gauge) {
      const since = oldestTimes(tasks.list());
      for (const phase of openPhases) gauge.with({ phase }).set(Math.max(0, nowMs() - since[phase]) / 1_000);
    },
  });
  const waited = metrics.histogram({
    name: "coding_tasks_wait_seconds",
    help: "Time from the receipt of a task to its first attempt.",
    labels: { type: types },
    buckets,
  });
  const reviews = metrics.counter({
    name: "reviews_total",
    help: "Closed reviews by outcome.",
    labels: { outcome: closedTaskPhases },
  });
  const reviewed = metrics.histogram({
    name: "reviews_duration_seconds",
    help: "Time from the first attempt of a review to its end.",
    labels: { outcome: closedTaskPhases },
    buckets,
  });
  const tasksEnded = metrics.counter({
    name: "coding_tasks_total",
    help: "Closed commands and issues by outcome.",
    labels: { type: types, outcome: closedTaskPhases },
  });
  const worked = metrics.histogram({
    name: "coding_tasks_duration_seconds",
    help: "Time from the first attempt of a command or issue to its end.",
    labels: { type: types, outcome: closedTaskPhases },
    buckets,
  });
  return {
    countStart({ spec }, nowMs) {
      waited.with({ type: spec.type }).observe(Math.max(0, nowMs - Date.parse(spec.receivedTime)) / 1_000);
    },
    countEnd({ spec, status }) {
      const outcome = (status?.phase ?? "Completed") as ClosedTaskPhase;
      const seconds = durationSeconds(status);
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

function oldestTimes(tasks: readonly CodingTask[]): Record<(typeof openPhases)[number], number> {
  const never = Number.POSITIVE_INFINITY;
  const since = { Pending: never, Waiting: never, Paused: never, Running: never };
  for (const task of tasks) {
    const { spec, status } = task;
    const phase = openPhases.find((open) => open === displayPhase(task));
    if (!phase) continue;
    const from = status?.phase === "Running" ? status.startTime : spec.receivedTime;
    since[phase] = Math.min(since[phase], Date.parse(from));
  }
  return since;
}

function displayPhase(task: CodingTask): string {
  return isPaused(task) ? "Paused" : (task.status?.phase ?? "Pending");
}

function durationSeconds(status: CodingTask["status"]): number {
  if (!status || !("startTime" in status) || !("completionTime" in status)) return 0;
  return Math.max(0, Date.parse(status.completionTime) - Date.parse(status.startTime ?? "")) / 1_000;
}
