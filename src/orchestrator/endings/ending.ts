import { type Decision, iso, requeueAfter } from "../../kube/index.ts";
import {
  type FailureDetails,
  type IncidentBlock,
  isUnfinished,
  type RemediationRequest,
  type SkipDetails,
  type WorkflowExecution,
} from "../../resources/index.ts";
import { parseDuration } from "../../time/index.ts";
import { type Action, act } from "../action.ts";
import * as events from "../reports/ledger-events.ts";
import { reviewNeeded } from "../reports/notices.ts";
import { type OrchestratorSettings, staleAfterMs } from "../settings.ts";
import type { Snapshot } from "../snapshot.ts";
import {
  blockedStatus,
  type Closing,
  closedStatus,
  executedAtMs,
  recurredStatus,
  startedOverStatus,
  verifyingStatus,
} from "../statuses.ts";

/** Closes an incident. Its outcome is reported afterwards, from the durable status. */
export function close(incident: RemediationRequest, closing: Closing, nowMs: number): Decision<Action> {
  const { outcome, message } = closing;
  return act(
    { do: "set-status", status: closedStatus(incident, closing, nowMs) },
    { do: "announce", announcement: { kind: "closed", outcome, message } },
  );
}

/** Returns the incident to Analyzing, where everything is decided again. */
export function startOver(incident: RemediationRequest, because: string): Decision<Action> {
  return act(
    { do: "set-status", status: startedOverStatus(incident, because) },
    { do: "announce", announcement: { kind: "started-over", because } },
  );
}

/** Handles the success of the execution that an incident waits for, its own or one that it follows. */
export function decideSuccess(
  incident: RemediationRequest,
  execution: WorkflowExecution,
  completedAt: string,
  nowMs: number,
): Decision<Action> {
  const resolved = resolvedClosing(incident, Date.parse(completedAt));
  if (resolved) return close(incident, resolved, nowMs);
  return act(
    { do: "set-status", status: verifyingStatus(incident, execution, completedAt) },
    { do: "announce", announcement: { kind: "verifying" } },
  );
}

/** Verifies that the problem does not recur. */
export function verify({ incident, nowMs, settings }: Snapshot): Decision<Action> {
  const { graceMs, windowMs } = settings.verification;
  const completedMs = executedAtMs(incident) ?? nowMs;
  const resolved = resolvedClosing(incident, completedMs);
  if (resolved) return close(incident, resolved, nowMs);

  if (lastSeenMs(incident) > completedMs + graceMs) {
    const because = `it was reported again at ${incident.status?.deduplication?.lastSeenAt}, after the run ended`;
    return act(
      { do: "record", event: events.recurredEvent(incident, completedMs) },
      { do: "set-status", status: recurredStatus(incident, because, lastSeenMs(incident)) },
      { do: "announce", announcement: { kind: "recurred" } },
    );
  }
  const endMs = completedMs + windowMs;
  if (nowMs < endMs) return requeueAfter(endMs - nowMs);
  return close(incident, silentClosing(incident, settings), nowMs);
}

/** Returns how an incident is closed that its sender reported as resolved; undefined if it did not. */
function resolvedClosing({ status }: RemediationRequest, completedMs: number): Closing | undefined {
  if (status?.resolvedAt === undefined) return undefined;
  const isDuringRun = Date.parse(status.resolvedAt) <= completedMs;
  return {
    phase: "Completed",
    outcome: isDuringRun ? "ResolvedDuringRun" : "Remediated",
    message: `the sender resolved it at ${status.resolvedAt}${isDuringRun ? ", during the run" : ""}`,
  };
}

/** The absence of reports proves a success only if the sender would have reported the problem again by now. */
function silentClosing(incident: RemediationRequest, settings: OrchestratorSettings): Closing {
  const repeats = staleAfterMs(incident, settings) <= settings.verification.windowMs;
  const phase = "Completed";
  if (repeats) return { phase, outcome: "Remediated", message: "it was not reported again after the run" };
  const message = `it was not reported again after the run, but ${incident.spec.signalSource} repeats its reports too rarely to prove that it is resolved`;
  return { phase, outcome: "Inconclusive", message };
}

/** Handles the failure of its own execution. A retry is safe if nothing was started; otherwise a review is needed. */
export function decideFailure(
  incident: RemediationRequest,
  execution: WorkflowExecution,
  { reason, wasExecutionFailure, naturalLanguageSummary }: FailureDetails,
  nowMs: number,
): Decision<Action> {
  const { name } = execution.metadata;
  if (!wasExecutionFailure)
    return startOver(incident, `execution ${name} failed with ${reason} before it changed anything`);
  return close(
    incident,
    { phase: "Failed", outcome: "ExecutionFailed", message: naturalLanguageSummary, review: true },
    nowMs,
  );
}

/** Handles a skip by the executor: the incident waits for the recorded reason. */
export function decideSkip(
  incident: RemediationRequest,
  execution: WorkflowExecution,
  details: SkipDetails,
  nowMs: number,
): Decision<Action> {
  const block = toBlock(execution, details);
  const review = details.reason === "PreviousExecutionFailed" || details.reason === "ExhaustedRetries";
  const earlier = "recentRemediation" in details ? details.recentRemediation : undefined;
  const notice = review ? reviewNeeded(incident, { ...details, earlierUid: earlier?.uid }) : undefined;
  return act(
    ...(notice ? [{ do: "notify", notice } as const] : []),
    { do: "set-status", status: blockedStatus(incident, block, { review, nowMs }) },
    {
      do: "announce",
      announcement: { kind: "decided", verdict: "block", reason: block.reason, message: block.message },
    },
  );
}

function toBlock({ metadata, spec }: WorkflowExecution, details: SkipDetails): IncidentBlock {
  const base = {
    reason: details.reason,
    message: details.message,
    decision: `${metadata.uid}/execution.skipped`,
  };
  if (details.reason === "ResourceBusy") {
    const { name, namespace, uid, workflowId, startedAt } = details.conflictingWorkflow;
    const engine = spec.workflowRef.engine ?? "local";
    const holder = {
      executionUid: uid,
      executionName: name,
      executionNamespace: namespace,
      workflowId,
      engine,
      since: startedAt,
    };
    return { ...base, holder };
  }
  if (details.reason !== "RecentlyRemediated") return base;
  const remainingMs = parseDuration(details.cooldownRemaining) ?? 0;
  const until = iso(Date.parse(details.skippedAt) + remainingMs);
  return { ...base, cause: details.cause, until };
}

/** Whether an execution can still remediate an incident. */
export function mayStillAct(execution: WorkflowExecution): boolean {
  return isUnfinished(execution) && execution.metadata.deletionTimestamp === undefined;
}

export function lastSeenMs({ spec, status }: RemediationRequest): number {
  return Date.parse(status?.deduplication?.lastSeenAt ?? spec.receivedTime);
}
