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

/** Counts announcements. */
export interface ExecutorMetrics {
  count(what: Announcement, snapshot: Snapshot): void;
}

const phases = ["Pending", "Running", "Completed", "Failed", "Skipped"] as const;
const skipReasons = Object.keys(blockReasons) as BlockReason[];
const engines = ["tekton", "job", "local"] as const;

const openPhases = ["Pending", "Running"] as const;

/** The caches that are read with every collection of the metrics. */
export interface Followed {
  readonly executions: Pick<Informer<WorkflowExecution>, "list">;
  readonly records: Pick<Informer<RemediationTarget>, "list">;
  readonly entries: Pick<Informer<RemediationWorkflow>, "list">;
  /** By the API server's clock, which wrote the times in the objects. */
  nowMs(): number;
}

/** Declares the executor's metrics. */
export function executorMetrics(metrics: Metrics, { executions, records, entries, nowMs }: Followed): ExecutorMetrics {
  metrics.gauge({
    name: "workflowexecution_oldest_seconds",
    help: "For how long the oldest execution has been Pending, and Running; 0 if none is.",
    labels: { phase: openPhases },
    collect(gauge) {
      const since = oldestTimes(executions.list());
      for (const phase of openPhases) gauge.with({ phase }).set(Math.max(0, nowMs() - since[phase]) / 1_000);
    },
  });
  metrics.rows({
    name: "workflowexecution_consecutive_failures",
    help: "Failures in a row before acting, of the target where a workflow has most.",
    label: "workflow_id",
    read: () => maxFailures(entries.list(), records.list()),
  });
  const transitions = metrics.counter({
    name: "workflowexecution_transitions_total",
    help: "Executions that reached a phase.",
    labels: { phase: phases },
  });
  const skips = metrics.counter({
    name: "workflowexecution_backoff_skip_total",
    help: "Executions that were skipped, by the check that said no.",
    labels: { reason: skipReasons },
  });
  const failures = metrics.counter({
    name: "workflowexecution_failures_total",
    help: "Executions that failed, by reason.",
    labels: { reason: Object.keys(failureReasons) },
  });
  const runs = metrics.counter({
    name: "workflowexecution_runs_created_total",
    help: "Runs that were created.",
    labels: { engine: engines },
  });
  const durations = metrics.histogram({
    name: "workflowexecution_duration_seconds",
    help: "From the start of a run to its end.",
    labels: { outcome: ["Success", "Failed"] },
    buckets: [1, 5, 15, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600],
  });
  return {
    count(what, { plan }) {
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
    },
  };
}

/** Returns since when the oldest execution of each phase is in it. */
function oldestTimes(executions: readonly WorkflowExecution[]) {
  const since = { Pending: Number.POSITIVE_INFINITY, Running: Number.POSITIVE_INFINITY };
  for (const { metadata, status } of executions) {
    if (status?.phase === "Running") since.Running = Math.min(since.Running, Date.parse(status.startTime));
    else if (!status || status.phase === "Pending") {
      since.Pending = Math.min(since.Pending, Date.parse(metadata.creationTimestamp ?? ""));
    }
  }
  return since;
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
