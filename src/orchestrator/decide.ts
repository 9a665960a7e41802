import { isDeepStrictEqual } from "node:util";
import { type Decision, nothing, requeueAt } from "../kube/index.ts";
import { type Analysis, type Blocked, decide as decidePolicy, workflowRules } from "../policy/index.ts";
import {
  closedNotice,
  closedStatus,
  labelKeys,
  readCancelRequest,
  type WorkflowExecution,
} from "../resources/index.ts";
import { parseDuration } from "../time/index.ts";
import { type Action, act } from "./action.ts";
import { decideApproval, expireOpenApproval } from "./approvals/decide-approval.ts";
import { cancelExecutions, cancelIncident, cancelledClosing, openCancelRequest } from "./endings/cancel.ts";
import { close, decideFailure, decideSkip, decideSuccess, startOver, verify } from "./endings/ending.ts";
import { isOutnumbered, lateExecution } from "./endings/late.ts";
import { isTombstone, tombstoneStatus } from "./endings/tombstone.ts";
import { staleAtMs, withdraw } from "./endings/withdraw.ts";
import * as events from "./reports/ledger-events.ts";
import { incidentBlocked } from "./reports/notices.ts";
import { isKnown, type Snapshot } from "./snapshot.ts";
import { diagnosedStatus, executingStatus, isRecorded, noRuleStatus, recordedStatus } from "./statuses.ts";

/**
 * Decides the next step of an incident.
 *
 *     (new) → Pending → Analyzing ──→ Executing → Verifying → Completed
 *                        │ ↑    ↖ AwaitingApproval ↙ │  │ recurred: Analyzing
 *                        ↓ │                         │  └──→ Failed
 *                       Blocked            Withdrawn ←── resolved, or stale, before anything was started
 *
 * An incident that has a diagnosis and waits, or that follows an execution, is routed with its target: see `route`.
 */
export function decide(snapshot: Snapshot): Decision<Action> {
  const { incident } = snapshot;
  const { status, metadata } = incident;
  if (metadata.deletionTimestamp) return nothing;
  const cancel = openCancelRequest(incident);
  if (cancel) return cancelIncident(snapshot, cancel);
  const late = lateExecution(incident, snapshot.unfinished);
  if (late) return act({ do: "delete-execution", execution: late });
  const unknown = executionElsewhere(snapshot);
  if (unknown) return act({ do: "set-status", status: executingStatus(incident, unknown) });
  const rediagnosed = diagnoseAgain(snapshot);
  if (rediagnosed) return rediagnosed;
  switch (status?.phase) {
    case undefined:
    case "Pending":
      return analyze(snapshot);
    case "Analyzing":
      return status.diagnosis ? nothing : analyze(snapshot);
    case "Blocked":
      return status.diagnosis ? nothing : waitForRule(snapshot);
    case "AwaitingApproval":
      return decideApproval(snapshot);
    case "Executing":
      return status.follows ? nothing : decideExecuting(snapshot);
    case "Verifying":
      return verify(snapshot);
    case "Completed":
    case "Failed":
    case "Withdrawn":
      return settle(snapshot);
  }
}

function analyze(snapshot: Snapshot): Decision<Action> {
  const { analysis } = snapshot;
  const withdrawal = withdraw(snapshot);
  if (withdrawal) return withdrawal;
  if (!analysis) throw new TypeError("an incident without diagnosis was not analyzed");
  if (analysis.kind === "no-match") return noMatch(snapshot, analysis);
  return act(...applyDiagnosis(snapshot, analysis));
}

function applyDiagnosis(
  { incident, workflow, nowMs }: Snapshot,
  { diagnosis, rule }: Extract<Analysis, { kind: "diagnosed" }>,
): readonly Action[] {
  return [
    { do: "record", event: events.diagnosedEvent(incident, diagnosis, { workflow, nowMs }) },
    { do: "set-status", status: diagnosedStatus(incident, diagnosis, nowMs) },
    { do: "announce", announcement: { kind: "diagnosed", rule } },
  ];
}

/** No rule matched in the last analysis: nothing is read or evaluated again before the result may change. */
function waitForRule(snapshot: Snapshot): Decision<Action> {
  return snapshot.analysis ? analyze(snapshot) : (withdraw(snapshot) ?? recheckLater(snapshot));
}

function recheckLater(snapshot: Snapshot): Decision<Action> {
  return requeueAt(Math.min(staleAtMs(snapshot), nextRecheckMs(snapshot) ?? Infinity), snapshot.nowMs);
}

/** Finds an execution of an earlier diagnosis, which the routing of the current target does not find. */
function executionElsewhere({ incident, unfinished }: Snapshot): WorkflowExecution | undefined {
  const { diagnosis } = incident.status ?? {};
  if (!isWaiting(incident) || !diagnosis) return undefined;
  return unfinished.find(
    (execution) =>
      execution.spec.targetResource !== diagnosis.target &&
      !isKnown(incident, execution) &&
      !isOutnumbered(incident, execution),
  );
}

/** Applies a corrected rule to a waiting incident. Returns undefined if nothing changes, or an execution may still act. */
function diagnoseAgain(snapshot: Snapshot): Decision<Action> | undefined {
  const { incident, analysis, unfinished } = snapshot;
  const { diagnosis: known } = incident.status ?? {};
  if (!analysis || !known || unfinished.length > 0) return undefined;
  // Facts that cannot be read now do not undo an earlier diagnosis.
  if (analysis.kind === "no-match" && analysis.unreadable) return undefined;
  if (analysis.kind === "diagnosed" && isDeepStrictEqual(analysis.diagnosis, known)) return undefined;
  return act(
    ...expireOpenApproval(snapshot),
    ...(analysis.kind === "no-match" ? blockWithoutRule(snapshot, analysis.tried) : applyDiagnosis(snapshot, analysis)),
  );
}

/**
 * The list of reasons is written once: replicas with different rules would overwrite each other's list. Facts of objects
 * change without an event, so they are read again later, and a changed result is written.
 */
function noMatch(
  snapshot: Snapshot,
  { tried, dependsOnFacts }: Extract<Analysis, { kind: "no-match" }>,
): Decision<Action> {
  const { status } = snapshot.incident;
  const isWritten = status?.phase === "Blocked";
  const isChanged = dependsOnFacts && !status?.message?.startsWith(noRuleApplies(snapshot, tried).message);
  return isWritten && !isChanged ? recheckLater(snapshot) : act(...blockWithoutRule(snapshot, tried));
}

/** The interval at which objects are read again for an incident that waits for their facts. */
export const factsRecheckMs = 30_000;

/** Returns when a waiting incident is analyzed again without an event; undefined if it does not depend on facts. */
export function nextRecheckMs({ analysis, recheckAtMs, nowMs }: Snapshot): number | undefined {
  if (!analysis) return recheckAtMs;
  return analysis.kind === "no-match" && analysis.dependsOnFacts ? nowMs + factsRecheckMs : undefined;
}

function blockWithoutRule(snapshot: Snapshot, tried: readonly string[]): readonly Action[] {
  const { incident, nowMs } = snapshot;
  const decision = noRuleApplies(snapshot, tried);
  const event = events.decidedEvent(incident, { verdict: "block", decision, nowMs });
  const { reason, message, nextStep } = decision;
  const block = { reason, message: `${message}. Next: ${nextStep}`, decision: event.id };
  return [
    { do: "record", event },
    { do: "notify", notice: incidentBlocked(incident, decision) },
    { do: "set-status", status: noRuleStatus(incident, block, nowMs) },
    { do: "announce", announcement: { kind: "decided", verdict: "block", reason, message } },
  ];
}

/** Returns the policy's texts for an incident without a rule. No other check is possible without a target. */
function noRuleApplies({ settings, nowMs }: Snapshot, tried: readonly string[]): Blocked {
  const request = { target: "", workflowId: "", rulesTried: tried };
  const decision = decidePolicy(request, { record: undefined, workflow: undefined, pauses: [], settings, nowMs });
  if (decision.verdict === "allow") throw new TypeError("the policy allowed an incident without a rule");
  return { ...decision, checks: decision.checks.slice(0, 1) };
}

function decideExecuting(snapshot: Snapshot): Decision<Action> {
  const { incident, execution, nowMs } = snapshot;
  const name = incident.status?.executionRefs?.at(-1)?.name;
  if (!execution) return startOver(incident, `execution ${name} was deleted`);
  const { status } = execution;
  switch (status?.phase) {
    case "Completed":
      return decideSuccess(incident, execution, status.completionTime, nowMs);
    case "Failed":
      // A user deleted the execution: the policy decides about the next one, without a review.
      if (execution.metadata.deletionTimestamp) return startOver(incident, `execution ${name} was deleted`);
      if (status.failureDetails.cancellation) {
        return close(incident, cancelledClosing(status.failureDetails.cancellation), nowMs);
      }
      return decideFailure(incident, execution, status.failureDetails, nowMs);
    case "Skipped":
      return decideSkip(incident, execution, status.skipDetails, nowMs);
    case undefined:
    case "Pending":
    case "Running": {
      const deadlineMs = Date.parse(execution.metadata.creationTimestamp ?? "") + timeoutMs(snapshot);
      if (nowMs < deadlineMs) return requeueAt(deadlineMs, nowMs);
      const message = `execution ${name} exceeded the timeout of an execution, and is cancelled`;
      return close(incident, { phase: "Failed", outcome: "TimedOut", message, review: true }, nowMs);
    }
  }
}

function timeoutMs({ workflow, settings }: Snapshot): number {
  const workflowMs = parseDuration(workflow?.spec.timeout ?? "") ?? 0;
  return Math.max(settings.executionTimeoutMs, workflowMs > 0 ? workflowMs + executorMarginMs : 0);
}

/** A run starts some time after the creation of its execution. Its executor cancels it first, and records why. */
const executorMarginMs = 2 * 60_000;

/** Decides the last steps of a closed incident: record it, stop executions that still act for it, and delete it. */
function settle(snapshot: Snapshot): Decision<Action> {
  const { incident, unfinished, settings, nowMs } = snapshot;
  const { status } = incident;
  if (!status) return nothing;
  if (!isRecorded(incident)) {
    const notice = settings.notifyClosed ? closedNotice(incident) : undefined;
    return act(
      { do: "record", event: events.closedEvent(incident) },
      ...(notice ? [{ do: "notify", notice } as const] : []),
      { do: "set-status", status: recordedStatus(status, nowMs) },
    );
  }
  const request = readCancelRequest(incident);
  if (request && unfinished.length > 0) return cancelExecutions(unfinished, request) ?? nothing;
  // A run that timed out, or that was started while the incident was closed.
  const execution = unfinished.find(({ metadata }) => !metadata.deletionTimestamp);
  if (execution) return act({ do: "delete-execution", execution });
  const expired = expireOpenApproval(snapshot);
  return expired.length > 0 ? act(...expired) : retain(snapshot);
}

function retain(snapshot: Snapshot): Decision<Action> {
  const { incident, isNewest, nowMs } = snapshot;
  // The name of the next incident derives from its number. The creation of that one is an event.
  if (isNewest && isTombstone(incident)) return nothing;
  const isMarkedNewest = incident.metadata.labels?.[labelKeys.latestOf] !== undefined;
  if (!isNewest && isMarkedNewest) return act({ do: "mark-superseded" });
  const untilMs = keptUntilMs(snapshot);
  if (nowMs < untilMs) return requeueAt(untilMs, nowMs);
  // The annotation is part of the last write: after a crash in between both are repeated.
  if (isNewest && incident.status)
    return act({ do: "set-status", status: tombstoneStatus(incident.status) }, { do: "strip-incident" });
  return act(
    { do: "record", event: events.deletedEvent(incident, nowMs) },
    { do: "delete-incident" },
    { do: "announce", announcement: { kind: "deleted" } },
  );
}

/** Executions are deleted with their incident, so it is kept until their cooldown ends and no check needs them. */
function keptUntilMs({ incident, workflow, settings }: Snapshot): number {
  const closed = closedStatus(incident);
  const completedMs = closed ? Date.parse(closed.completedAt) : 0;
  const cooldownMs = (workflow && workflowRules(workflow).cooldownMs) ?? settings.cooldownMs;
  return completedMs + Math.max(settings.retentionMs, settings.ineffective.withinMs, cooldownMs);
}

/** Whether an incident waits with the result of an analysis, which new rules may replace. */
export function isWaiting({ status, metadata }: Snapshot["incident"]): boolean {
  if (metadata.deletionTimestamp || status?.resolvedAt !== undefined) return false;
  if (status?.phase === "Blocked") return true;
  return (status?.phase === "Analyzing" || status?.phase === "AwaitingApproval") && status.diagnosis !== undefined;
}

/** Whether an incident has to be analyzed before anything else is decided. */
export function needsAnalysis({ status, metadata }: Snapshot["incident"]): boolean {
  if (metadata.deletionTimestamp || status?.resolvedAt !== undefined) return false;
  const phase = status?.phase ?? "Pending";
  return phase === "Pending" || (phase === "Analyzing" && !status?.diagnosis);
}
