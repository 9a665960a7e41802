import type { Informer } from "../../kube/index.ts";
import {
  type BlockReason,
  blockReasons,
  failureReasons,
  type RemediationTarget,
  type RemediationWorkflow,
  type WorkflowExecution,
} from "../../resources/index.ts";
import type { Metrics } from "../../telemetry/index.ts";
import type { Announcement } from "../action.ts";
import type { Snapshot } from "../snapshot.ts";

/** Counts an announcement. */
export type CountAnnouncement = (what: Announcement, snapshot: Snapshot) => void;

const phases = ["Pending", "Running", "Completed", "Failed", "Skipped"] as const;
const skipReasons = Object.keys(blockReasons) as BlockReason[];
const engines = ["tekton", "job", "local"] as const;

const openPhases = ["Pending", "Running"] as const;

/** The caches that are read at each scrape. */
export interface MetricSources {
  readonly executions: Pick<Informer<WorkflowExecution>, "list">;
  readonly records: Pick<Informer<RemediationTarget>, "list">;
  readonly entries: Pick<Informer<RemediationWorkflow>, "list">;
  /** The API server's clock, by which the times in the objects are written. */
  nowMs(): number;
}

/** Declares the executor's metrics. */
export function executorMetrics(
  metrics: Metrics,
  { executions, records, entries, nowMs }: MetricSources,
): CountAnnouncement {
  metrics.gauge(
    "workflowexecution_oldest_seconds",
    "For how long the oldest execution has been Pending, and Running; 0 if none is.",
    ({ phase }) => Math.max(0, nowMs() - oldestMs(executions.list(), phase)) / 1_000,
    { phase: openPhases },
  );
  metrics.rows(
    "workflowexecution_consecutive_failures",
    "Failures in a row before acting, of the target where a workflow has most.",
    { label: "workflow_id", read: () => maxFailures(entries.list(), records.list()) },
  );
  const transitions = metrics.counter("workflowexecution_transitions_total", "Executions that reached a phase.", {
    phase: phases,
  });
  const skips = metrics.counter(
    "workflowexecution_backoff_skip_total",
    "Executions that were skipped, by the check that blocked them.",
    { reason: skipReasons },
  );
  const failures = metrics.counter("workflowexecution_failures_total", "Executions that failed, by reason.", {
    reason: Object.keys(failureReasons),
  });
  const runs = metrics.counter("workflowexecution_runs_created_total", "Runs that were created.", { engine: engines });
  const durations = metrics.histogram(
    "workflowexecution_duration_seconds",
    "From the start of a run to its end.",
    [1, 5, 15, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600],
    { outcome: ["Success", "Failed"] },
  );
  return (what, { plan }) => {
    switch (what.kind) {
      case "pending":
        return transitions.with({ phase: "Pending" }).inc();
      case "skipped":
        transitions.with({ phase: "Skipped" }).inc();
        return skips.with({ reason: what.reason }).inc();
      case "run-created":
        if (plan.kind === "valid") runs.with({ engine: plan.engine }).inc();
        return;
      case "started":
        return transitions.with({ phase: "Running" }).inc();
      case "completed":
        transitions.with({ phase: "Completed" }).inc();
        return durations.with({ outcome: "Success" }).observe(what.durationMs / 1_000);
      case "failed":
        transitions.with({ phase: "Failed" }).inc();
        failures.with({ reason: what.details.reason }).inc();
        if (what.durationMs !== undefined) durations.with({ outcome: "Failed" }).observe(what.durationMs / 1_000);
        return;
      case "admitted":
      case "freed":
      case "run-removed":
      case "acknowledged":
      case "blocked-by-run":
      case "cleanup-failed":
        return;
    }
  };
}

/** Returns when the execution that is longest in this phase entered it; infinity if there is none. */
function oldestMs(executions: readonly WorkflowExecution[], phase: (typeof openPhases)[number]): number {
  let oldest = Number.POSITIVE_INFINITY;
  for (const { metadata, status } of executions) {
    if ((status?.phase ?? "Pending") !== phase) continue;
    const since = status?.phase === "Running" ? status.startTime : metadata.creationTimestamp;
    oldest = Math.min(oldest, Date.parse(since ?? ""));
  }
  return oldest;
}

/** Only workflows of the catalog are labels: an execution may name any workflow. */
function maxFailures(entries: readonly RemediationWorkflow[], records: readonly RemediationTarget[]) {
  const most = new Map(entries.map(({ spec }) => [spec.workflowId, 0]));
  for (const { status } of records) {
    for (const { workflowId, consecutiveFailures } of status?.workflows ?? []) {
      const known = most.get(workflowId);
      if (known !== undefined) most.set(workflowId, Math.max(known, consecutiveFailures));
    }
  }
  return most;
}
