import { iso } from "../kube/index.ts";
import type { Ledger, LedgerEvent } from "../ledger/index.ts";
import type { Paused } from "../policy/index.ts";
import { type CodingTask, type CodingTaskStatus, readCancelRequest } from "../resources/index.ts";
import { taskFacts, taskReceivedEvent } from "../tasks/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { AgentMetrics } from "./metrics.ts";

export type AnnounceTask = ReturnType<typeof announcer>;

interface AnnouncerDeps {
  readonly ledger: Ledger;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
  readonly nowMs: () => number;
}

/** Reports the progress of tasks to the ledger, the metrics and the log. */
export function announcer({ ledger, metrics, log, nowMs }: AnnouncerDeps) {
  return {
    /** Called before the status is written, once for each set of pauses. */
    async recordPause(task: CodingTask, paused: Paused): Promise<void> {
      await ledger.append(pausedEvent(task, paused, nowMs()));
      log.info("task paused", { ...logFields(task), pauses: paused.pauses.map(({ name }) => name) });
    },
    /** Called before the work begins. */
    async recordStart(task: CodingTask, isFirstTry: boolean): Promise<void> {
      // The creator of the task may have died before it was recorded. The ledger keeps one event per id.
      await Promise.all([taskReceivedEvent(task), startedEvent(task)].map((event) => ledger.append(event)));
      if (isFirstTry) metrics.countStart(task, nowMs());
      log.info("task started", { ...logFields(task), attempt: task.status?.attempts });
    },
    /** Called before the status is written: a closed task is not observed again. */
    async recordEnd(task: CodingTask, status: CodingTaskStatus): Promise<void> {
      await ledger.append(endedEvent(task, status));
    },
    /** Called after this process has written the final status. */
    reportEnd(task: CodingTask): void {
      const { status } = task;
      metrics.countEnd(task);
      log.info("task ended", {
        ...logFields(task),
        phase: status?.phase,
        message: status?.message,
        ...(status && reasonField(status)),
      });
    },
  };
}

function pausedEvent(task: CodingTask, paused: Paused, nowMs: number): LedgerEvent {
  const { pauses, evidence, clears, nextStep } = paused;
  const names = pauses.map(({ name }) => name).sort();
  const facts = { reason: "Paused", message: `${evidence}; clears ${clears}`, next_step: nextStep, pauses: names };
  return {
    id: `${task.metadata.uid}/task.paused/${names.join()}`,
    type: "task.paused",
    at: iso(nowMs),
    facts: { ...taskFacts(task), ...facts },
  };
}

function startedEvent(task: CodingTask): LedgerEvent {
  const { metadata, status } = task;
  const attempt = status?.attempts ?? 1;
  const { uid, resourceVersion } = metadata;
  const at = status && "startTime" in status ? (status.startTime ?? "") : "";
  return {
    id: `${uid}/task.started/${resourceVersion}`,
    type: "task.started",
    at,
    facts: { ...taskFacts(task), attempt },
  };
}

function endedEvent(task: CodingTask, status: CodingTaskStatus): LedgerEvent {
  const { phase, message = "" } = status;
  const at = "completionTime" in status ? status.completionTime : "";
  const reason = reasonField(status);
  const id = `${task.metadata.uid}/task.ended/${phase}`;
  const request = phase === "Cancelled" ? readCancelRequest(task) : undefined;
  const cancelled = request ? { cancelled_by: request.by } : {};
  return { id, type: "task.ended", at, facts: { ...taskFacts(task), phase, message, ...reason, ...cancelled } };
}

function reasonField(status: CodingTaskStatus): { readonly reason?: string } {
  if (status.phase === "Failed") return { reason: status.failure.reason };
  return status.phase === "Cancelled" && status.reason ? { reason: status.reason } : {};
}

function logFields({ metadata, spec }: CodingTask) {
  const { name, namespace } = metadata;
  return {
    task: `${namespace}/${name}`,
    type: spec.type,
    targetResource: spec.targetResource,
    claimKey: spec.claimKey,
  };
}
