import { type IgnoreReason, ignoreReasons, reportedObjects, type TaskReport } from "../resources/index.ts";
import type { Metrics } from "../telemetry/index.ts";

/** Counts what comes in for the coding agent. */
export interface TaskMetrics {
  received(object: TaskReport["object"]): void;
  ignored(reason: IgnoreReason): void;
  duplicate(kind: "delivery" | "task"): void;
}

export function taskMetrics(metrics: Metrics): TaskMetrics {
  const received = metrics.counter({
    name: "gateway_webhook_received_total",
    help: "Webhooks that were let in, by what they are about.",
    labels: { object_kind: reportedObjects },
  });
  const ignored = metrics.counter({
    name: "gateway_webhook_ignored_total",
    help: "Webhooks that became no task, by reason.",
    labels: { reason: ignoreReasons },
  });
  const duplicates = metrics.counter({
    name: "gateway_dedup_hits_total",
    help: "Webhooks that were delivered before, and those whose task was there already.",
    labels: { kind: ["delivery", "task"] },
  });
  return {
    received: (object) => received.with({ object_kind: object }).inc(),
    ignored: (reason) => ignored.with({ reason }).inc(),
    duplicate: (kind) => duplicates.with({ kind }).inc(),
  };
}
