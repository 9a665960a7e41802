import { byAge, type Decision, nothing, requeueAfter, requeueAt } from "../../kube/index.ts";
import { findHistory, type PolicyDecision } from "../../policy/index.ts";
import {
  type Diagnosis,
  type ParameterValue,
  type RemediationRequest,
  readCancelRequest,
  type WorkflowExecution,
} from "../../resources/index.ts";
import { backoffMs, parseDuration } from "../../time/index.ts";
import { type Action, act } from "../action.ts";
import { approvalName, draftApproval, isWithdrawn } from "../approvals/draft-approval.ts";
import { close, decideSuccess, mayStillAct, startOver } from "../endings/ending.ts";
import { isOutnumbered, lateExecution } from "../endings/late.ts";
import { staleAtMs, withdraw } from "../endings/withdraw.ts";
import * as events from "../reports/ledger-events.ts";
import { approvalRequired } from "../reports/notices.ts";
import { isKnown, ownExecutions } from "../snapshot.ts";
import { awaitingApprovalStatus, executingStatus, followingStatus, requireDiagnosis } from "../statuses.ts";
import { block } from "./block.ts";
import { decideAction } from "./decide-action.ts";
import { draftExecution } from "./draft-execution.ts";
import { settleAck } from "./settle-ack.ts";
import type { TargetView } from "./target-view.ts";

/** Whether an incident is routed with its target: it has a diagnosis and waits, or follows an execution. */
export function isRouted(incident: RemediationRequest): boolean {
  const { metadata, status } = incident;
  if (metadata.deletionTimestamp || readCancelRequest(incident) || !status?.diagnosis) return false;
  return (
    status.phase === "Analyzing" ||
    status.phase === "Blocked" ||
    (status.phase === "Executing" && status.follows !== undefined)
  );
}

/** Decides the next step of an incident that is routed with its target. Nothing here is exclusive: admission is. */
export function route(incident: RemediationRequest, view: TargetView): Decision<Action> {
  if (!isRouted(incident)) return nothing;
  const { follows } = incident.status ?? {};
  if (follows) return decideFollowing(incident, follows, view);

  const { nowMs, settings } = view;
  const own = ownExecutions(incident, view.executions);
  // It is being deleted: see `decide`.
  if (lateExecution(incident, own)) return nothing;
  // Created by this replica, or by one that crashed before it wrote the reference.
  const unknown = own.find((execution) => !isKnown(incident, execution) && !isOutnumbered(incident, execution));
  if (unknown) return act({ do: "set-status", status: executingStatus(incident, unknown) });

  const answeredMs = approvalAnsweredMs(incident, view);
  const withdrawal = withdraw({ incident, nowMs, settings }, answeredMs);
  if (withdrawal) return withdrawal;
  const next = settleAck(incident, view) ?? followOther(incident, view) ?? decideByPolicy(incident, view);
  const staleMs = Math.max(1, staleAtMs({ incident, settings }, answeredMs) - nowMs);
  return next.actions.length > 0 ? next : requeueAfter(Math.min(next.requeueAfterMs ?? staleMs, staleMs));
}

/** Shares the success of the followed execution. After any other end everything is decided again. */
function decideFollowing(
  incident: RemediationRequest,
  { name, uid }: { name: string; uid: string },
  { executions, nowMs }: TargetView,
): Decision<Action> {
  const execution = executions.find(({ metadata }) => metadata.uid === uid);
  if (!execution) return startOver(incident, `the followed execution ${name} was deleted`);
  const { status } = execution;
  switch (status?.phase) {
    case undefined:
    case "Pending":
    case "Running":
      return nothing;
    case "Completed":
      return decideSuccess(incident, execution, status.completionTime, nowMs);
    case "Failed":
      return startOver(incident, `the followed execution ${name} failed`);
    case "Skipped":
      return startOver(incident, `the followed execution ${name} was skipped`);
  }
}

/** Follows an execution of another incident that does the same: nothing has to be started. */
function followOther(incident: RemediationRequest, view: TargetView): Decision<Action> | undefined {
  const diagnosis = requireDiagnosis(incident);
  const holderUid = view.record?.status?.holder?.executionUid;
  const same = view.executions
    .filter((execution) => mayStillAct(execution) && isSameWork(execution, diagnosis))
    .sort(byAge);
  const execution = same.find(({ metadata }) => metadata.uid === holderUid) ?? same[0];
  if (!execution) return undefined;
  const message = `execution ${execution.metadata.name} runs the same workflow with the same parameters`;
  const event = events.decidedEvent(incident, { verdict: "follow", execution, message, nowMs: view.nowMs });
  return act(
    { do: "record", event },
    { do: "set-status", status: followingStatus(incident, execution) },
    { do: "announce", announcement: { kind: "decided", verdict: "follow", message } },
  );
}

/** Blocks the incident, starts an execution, or requests an approval, as the policy decides. */
function decideByPolicy(incident: RemediationRequest, view: TargetView): Decision<Action> {
  const { nowMs } = view;
  const decision = decideAction(incident, view);
  if (decision.verdict === "block") return block(incident, decision, view);
  if (decision.observeOnly) {
    const { message } = decision;
    const event = events.decidedEvent(incident, { verdict: "observe", decision, message, nowMs });
    const { actions } = close(incident, { phase: "Completed", outcome: "Observed", message }, nowMs);
    return act({ do: "record", event }, ...actions);
  }
  const notBeforeMs = refusalDelayMs(incident, view);
  if (nowMs < notBeforeMs) return requeueAt(notBeforeMs, nowMs);
  return requestApproval(incident, decision, view) ?? createExecution(incident, decision, view);
}

/**
 * Returns the delay after executors refused what the policy allows: their configuration or state differs, or the execution
 * is invalid. One refusal is a race and retried at once; after more the delay grows. It is never shorter than the time that the
 * executor recorded.
 */
function refusalDelayMs(incident: RemediationRequest, view: TargetView): number {
  const own = ownExecutions(incident, view.executions).sort(byAge).reverse();
  const acted = own.findIndex((execution) => refusedAt(execution) === undefined);
  const refused = acted < 0 ? own : own.slice(0, acted);
  const latest = refused[0];
  const latestAt = latest && refusedAt(latest);
  if (!latest || latestAt === undefined) return 0;
  const untilMs = refusedUntilMs(latest, view);
  if (refused.length < 2) return untilMs;
  const backoffOverMs = backoffMs(refused.length - 1, { baseMs: 1_000, maxMs: 300_000, jitter: 0 }, 0);
  return Math.max(untilMs, Date.parse(latestAt) + backoffOverMs);
}

/** Returns until when an executor refused it, while the record still shows the cause; 0 if no time is known. */
function refusedUntilMs({ spec, status }: WorkflowExecution, { record }: TargetView): number {
  if (status?.phase !== "Skipped" || status.skipDetails.reason !== "RecentlyRemediated") return 0;
  const { cause, cooldownRemaining, skippedAt, recentRemediation } = status.skipDetails;
  const history = findHistory(record?.status, spec.workflowRef.workflowId);
  const success = history?.lastSuccess;
  // A cooldown ends when its execution is deleted, a backoff when an operator acknowledges the failures.
  const isOver =
    cause === "cooldown"
      ? success !== undefined && (success.cooldownEnded || success.executionUid !== recentRemediation?.uid)
      : history !== undefined && history.nextAllowed === undefined;
  return isOver ? 0 : Date.parse(skippedAt) + (parseDuration(cooldownRemaining) ?? 0);
}

/** Returns when an executor refused to admit it; undefined if none did. */
function refusedAt({ status }: WorkflowExecution): string | undefined {
  if (status?.phase === "Skipped") return status.skipDetails.skippedAt;
  // A status that another program wrote may lack the details.
  const isInvalid = status?.phase === "Failed" && status.failureDetails?.reason === "ValidationError";
  return isInvalid ? status.completionTime : undefined;
}

/** Requests an approval first, if the workflow requires one and there is none yet. */
function requestApproval(
  incident: RemediationRequest,
  decision: PolicyDecision,
  view: TargetView,
): Decision<Action> | undefined {
  const { nowMs, settings, catalog } = view;
  const entry = catalog.find(requireDiagnosis(incident).workflowId);
  if (!entry?.spec.approval?.required) return undefined;
  const name = approvalNameFor(incident, view);
  const known = view.approvals.get(name);
  if (known?.status?.decision === "Approved") return undefined;
  const approval = known ?? draftApproval(incident, { name, entry, nowMs, settings });
  const message = `every check passes; ${entry.spec.workflowId} requires an approval`;
  const event = events.decidedEvent(incident, { verdict: "ask", decision, message, nowMs });
  return act(
    { do: "record", event },
    // An aborted attempt may have created it: an object that has a version cannot be created.
    ...(known ? [] : [{ do: "create-approval", approval } as const]),
    { do: "record", event: events.approvalRequestedEvent(incident, approval, nowMs) },
    { do: "notify", notice: approvalRequired(incident, approval) },
    { do: "set-status", status: awaitingApprovalStatus(incident, name) },
    { do: "announce", announcement: { kind: "decided", verdict: "ask", message } },
  );
}

/** Creates an execution. The next decision finds it, and writes its reference into the incident. */
function createExecution(incident: RemediationRequest, decision: PolicyDecision, view: TargetView): Decision<Action> {
  const { nowMs, catalog } = view;
  const entry = catalog.find(requireDiagnosis(incident).workflowId);
  if (!entry) throw new TypeError("the policy allowed a workflow that is not in the catalog");
  // The executor admits a workflow that requires an approval only with one, and reads it itself.
  const approval = entry.spec.approval?.required ? approvalNameFor(incident, view) : undefined;
  const execution = draftExecution(incident, entry, approval);
  const { message } = decision;
  const event = events.decidedEvent(incident, { verdict: "run", decision, execution, message, nowMs });
  return act(
    { do: "record", event },
    { do: "create-execution", execution },
    { do: "announce", announcement: { kind: "decided", verdict: "run", message } },
  );
}

/** Returns the name of the approval for the next run. A skipped execution has not used its approval, a withdrawn one is void. */
export function approvalNameFor(incident: RemediationRequest, view: TargetView): string {
  const own = ownExecutions(incident, view.executions);
  const skipped = own.filter(({ status }) => status?.phase === "Skipped").length;
  const known = incident.status?.executionRefs?.length ?? 0;
  const version = view.catalog.find(requireDiagnosis(incident).workflowId)?.spec.version;
  for (let round = 0; ; round++) {
    const name = approvalName(incident, { n: known - skipped + 1, version, round });
    const approval = view.approvals.get(name);
    if (!approval || !isWithdrawn(approval)) return name;
  }
}

/** Returns when the approval was answered; 0 if it was not. */
function approvalAnsweredMs(incident: RemediationRequest, view: TargetView): number {
  return Date.parse(view.approvals.get(approvalNameFor(incident, view))?.status?.decidedAt ?? "") || 0;
}

function isSameWork({ spec }: WorkflowExecution, { workflowId, parameters = {} }: Diagnosis): boolean {
  return (
    spec.workflowRef.workflowId === workflowId && parametersText(spec.parameters ?? {}) === parametersText(parameters)
  );
}

function parametersText(parameters: Readonly<Record<string, ParameterValue>>): string {
  return JSON.stringify(Object.entries(parameters).sort(([one], [other]) => (one < other ? -1 : 1)));
}
