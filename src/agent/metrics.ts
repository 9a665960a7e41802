import type { Informer } from "../kube/index.ts";
import {
  type ClosedTaskStatus,
  type CodingTask,
  type CodingTaskSpec,
  closedTaskPhases,
  closedTaskStatus,
} from "../resources/index.ts";
import type { Metrics } from "../telemetry/index.ts";
import { isPaused } from "./statuses.ts";

export type AgentMetrics = ReturnType<typeof agentMetrics>;

type TaskType = CodingTaskSpec["type"];
const types = ["Review", "Command", "Issue"] as const satisfies readonly TaskType[];
/** `Paused` tasks wait for people and raise no alert, unlike `Waiting` ones. */
const openPhases = ["Pending", "Waiting", "Paused", "Running"] as const;
type OpenPhase = (typeof openPhases)[number];
/** In seconds. The work takes as long as the coder takes; waits start at milliseconds. */
const buckets = [0.05, 0.25, 1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600];

/**
 * Declares the agent's metrics. Waiting and working are separate: a slow coder and a long queue need different
 * remedies.
 */
export function agentMetrics(
  metrics: Metrics,
  { tasks, nowMs }: { readonly tasks: Pick<Informer<CodingTask>, "list">; readonly nowMs: () => number },
) {
  const inPhase = (phase: OpenPhase) => tasks.list().filter((task) => displayPhase(task) === phase);
  metrics.gauge("agent_open_tasks", "Open coding tasks by phase.", ({ phase }) => inPhase(phase).length, {
    phase: openPhases,
  });
  metrics.gauge(
    "agent_oldest_task_seconds",
    "Age of the oldest task in a phase: since it was received or, if Running, since it started; 0 without tasks.",
    ({ phase }) => Math.max(0, nowMs() - oldestMs(inPhase(phase))) / 1_000,
    { phase: openPhases },
  );
  const waited = metrics.histogram(
    "coding_tasks_wait_seconds",
    "Time from the receipt of a task to its first attempt.",
    buckets,
    { type: types },
  );
  const reviews = metrics.counter("reviews_total", "Closed reviews by outcome.", { outcome: closedTaskPhases });
  const reviewed = metrics.histogram(
    "reviews_duration_seconds",
    "Time from the first attempt of a review to its end.",
    buckets,
    { outcome: closedTaskPhases },
  );
  const tasksEnded = metrics.counter("coding_tasks_total", "Closed commands and issues by outcome.", {
    type: types,
    outcome: closedTaskPhases,
  });
  const worked = metrics.histogram(
    "coding_tasks_duration_seconds",
    "Time from the first attempt of a command or issue to its end.",
    buckets,
    { type: types, outcome: closedTaskPhases },
  );
  return {
    /** Called when the first attempt begins. */
    countStart({ spec }: CodingTask, nowMs: number): void {
      waited.with({ type: spec.type }).observe(Math.max(0, nowMs - Date.parse(spec.receivedTime)) / 1_000);
    },
    countEnd(task: CodingTask): void {
      const { spec } = task;
      const status = closedTaskStatus(task);
      const outcome = status?.phase ?? "Completed";
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

function oldestMs(tasks: readonly CodingTask[]): number {
  let oldest = Number.POSITIVE_INFINITY;
  for (const { spec, status } of tasks) {
    const since = status?.phase === "Running" ? status.startTime : spec.receivedTime;
    oldest = Math.min(oldest, Date.parse(since));
  }
  return oldest;
}

function displayPhase(task: CodingTask): string {
  return isPaused(task) ? "Paused" : (task.status?.phase ?? "Pending");
}

function durationSeconds(status: ClosedTaskStatus | undefined): number {
  if (!status || !("startTime" in status)) return 0;
  return Math.max(0, Date.parse(status.completionTime) - Date.parse(status.startTime ?? "")) / 1_000;
}
