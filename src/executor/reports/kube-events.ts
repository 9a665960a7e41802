import { draftKubeEvent, type KubeClient, type KubeEvent, kubeEvents } from "../../kube/index.ts";
import { workflowExecutions } from "../../resources/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Announcement } from "../action.ts";
import type { Snapshot } from "../snapshot.ts";

/** Writes Kubernetes Events in the background: nothing depends on them. */
export interface EventRecorder {
  record(event: KubeEvent): void;
  /** Waits for the writes in progress. */
  drain(): Promise<void>;
}

export function eventRecorder(client: KubeClient, log: Logger): EventRecorder {
  const writing = new Set<Promise<void>>();
  return {
    record(event) {
      const done = client.create(kubeEvents, event).then(
        () => {},
        (error) => log.warn("kubernetes event not written", { reason: event.reason, message: String(error) }),
      );
      writing.add(done);
      void done.finally(() => writing.delete(done));
    },
    async drain() {
      await Promise.all(writing);
    },
  };
}

/** Returns the Event for an announcement, if it has one. */
export function toKubeEvent(what: Announcement, { execution, nowMs }: Snapshot): KubeEvent | undefined {
  const text = toEventText(what);
  const draft = text && { ...text, key: text.reason, stage: "executor", atMs: nowMs };
  return draft && draftKubeEvent(workflowExecutions, execution, draft);
}

function toEventText(what: Announcement): Pick<KubeEvent, "type" | "reason" | "message"> | undefined {
  switch (what.kind) {
    case "run-created":
      return { type: "Normal", reason: "RunCreated", message: `run ${what.runName} was created` };
    case "completed":
      return { type: "Normal", reason: "WorkflowCompleted", message: "the workflow succeeded" };
    case "failed":
      return { type: "Warning", reason: "WorkflowFailed", message: what.details.naturalLanguageSummary };
    case "skipped":
      return { type: "Normal", reason: "WorkflowSkipped", message: what.message };
    case "freed":
      return { type: "Normal", reason: "TargetFreed", message: "the target can be acted on again" };
    case "cleanup-failed":
      return { type: "Warning", reason: "CleanupFailed", message: what.why };
    case "pending":
    case "admitted":
    case "started":
    case "run-removed":
    case "acknowledged":
    case "blocked-by-run":
      return undefined;
  }
}
