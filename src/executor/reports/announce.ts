import type { Logger } from "../../telemetry/index.ts";
import type { Announcement } from "../action.ts";
import type { Snapshot } from "../snapshot.ts";
import { type EventRecorder, toKubeEvent } from "./kube-events.ts";
import type { CountAnnouncement } from "./metrics.ts";

/** Updates log, Events and metrics. Never throws, and does not wait for the Events. */
export type Announce = (what: Announcement, snapshot: Snapshot) => void;

export function announcer(options: {
  readonly log: Logger;
  readonly count: CountAnnouncement;
  readonly recorder: EventRecorder;
}): Announce {
  const { log, count, recorder } = options;
  return (what, snapshot) => {
    count(what, snapshot);
    writeLog(log, what, snapshot);
    const event = toKubeEvent(what, snapshot);
    if (event) recorder.record(event);
  };
}

function writeLog(log: Logger, what: Announcement, snapshot: Snapshot) {
  const { execution, plan, run } = snapshot;
  const { metadata, spec } = execution;
  const targetResource = plan.target?.text ?? spec.targetResource;
  const fields = {
    execution: `${metadata.namespace}/${metadata.name}`,
    workflowId: spec.workflowRef.workflowId,
    targetResource,
  };
  switch (what.kind) {
    case "pending":
      return log.debug("execution pending", fields);
    case "admitted":
      return log.info("lock acquired", fields);
    case "skipped":
      return log.info("resource locked", { ...fields, reason: what.reason, message: what.message });
    case "run-created":
      return log.info("run created", { ...fields, run: what.runName });
    case "started":
      return log.info("run started", { ...fields, run: run?.object.metadata.name });
    case "completed":
      return log.info("execution completed", { ...fields, durationMs: what.durationMs });
    case "failed": {
      const { reason, message, failedTaskName, failedStepName, exitCode, wasExecutionFailure } = what.details;
      const failure = { reason, message, failedTaskName, failedStepName, exitCode, wasExecutionFailure };
      return log.warn("execution failed", { ...fields, ...failure });
    }
    case "freed":
      log.info("lock released", fields);
      return (
        execution.status?.phase === "Completed" &&
        log.info("waiting for cooldown", { ...fields, ...remainingCooldown(snapshot) })
      );
    case "run-removed":
      return log.info("run removed", { ...fields, run: what.runName });
    case "acknowledged":
      return log.info("failure acknowledged", { ...fields, by: what.by, reason: what.reason });
    case "blocked-by-run":
      return log.warn("run in the way", { ...fields, why: what.why });
    case "cleanup-failed":
      return log.warn("cleanup failed", { ...fields, why: what.why });
  }
}

function remainingCooldown({ execution: { status }, plan, settings, nowMs }: Snapshot) {
  const cooldownPeriodMs = plan.kind === "valid" ? plan.cooldownMs : settings.cooldownMs;
  const completedMs = status?.phase === "Completed" ? Date.parse(status.completionTime) : nowMs;
  return { cooldownPeriodMs, remainingMs: Math.max(0, completedMs + cooldownPeriodMs - nowMs) };
}
