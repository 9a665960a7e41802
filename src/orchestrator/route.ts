import {
  type ActionRequest,
  type Blocked,
  type Decision,
  decide as decidePolicy,
  type Pause,
  workflowRules,
} from "../policy/index.ts";
import {
  type Catalog,
  type Diagnosis,
  isRecorded,
  isUnfinished,
  type ParameterValue,
  type RemediationApprovalRequest,
  type RemediationRequest,
  type RemediationTarget,
  type RemediationTargetStatus,
  type TargetHolder,
  type WorkflowExecution,
} from "../resources/index.ts";
import { backoffMs } from "../time/index.ts";
import { act, nothing, type Turn, waitUntil } from "./action.ts";
import { approvalName, draftApproval } from "./draft-approval.ts";
import { draftExecution } from "./draft-execution.ts";
import { close, mayStillAct, startOver, succeeded } from "./ending.ts";
import { isOutnumbered, lateExecution } from "./late.ts";
import * as events from "./ledger-events.ts";
import { acknowledgementOn, approvalRequired, needsPerson } from "./notices.ts";
import type { OrchestratorSettings } from "./settings.ts";
import { awaitingApproval, blocked, diagnosisOf, executing, following } from "./statuses.ts";
import { staleAtMs, withdraw } from "./withdraw.ts";

/** One target, and all that a decision to act on it depends on. */
export interface TargetView {
  /** The API server's clock, read before anything else was. */
  readonly nowMs: number;
  /** The target's namespace, if its kind has one. */
  readonly namespace: string | undefined;
  readonly record: RemediationTarget | undefined;
  /** All on this target, whoever made them. */
  readonly executions: readonly WorkflowExecution[];
  readonly pauses: readonly Pause[];
  readonly catalog: Catalog;
  /** Questions by name, as far as they were looked up. */
  readonly approvals: ReadonlyMap<string, RemediationApprovalRequest>;
  readonly settings: OrchestratorSettings;
}

/** Whether an incident is dealt with in its target's turn: it knows its target and waits, or follows an execution. */
export function hasTurn({ metadata, status }: RemediationRequest): boolean {
  if (metadata.deletionTimestamp || !status?.diagnosis) return false;
  return (
    status.phase === "Analyzing" ||
    status.phase === "Blocked" ||
    (status.phase === "Executing" && status.follows !== undefined)
  );
}

/** The next step of an incident in its target's turn. Nothing here is exclusive: who may act is decided at admission. */
export function route(incident: RemediationRequest, view: TargetView): Turn {
  if (!hasTurn(incident)) return nothing;
  const { follows } = incident.status ?? {};
  if (follows) return followOn(incident, follows, view);

  const { nowMs, settings } = view;
  const own = ownExecutions(incident, view);
  // It is being removed: see `decide`.
  if (lateExecution(incident, own)) return nothing;
  // Made by us, or by somebody who died before writing it down.
  const unknown = own.find((execution) => !isKnown(incident, execution) && !isOutnumbered(incident, execution));
  if (unknown) return act({ do: "set-status", status: executing(incident, unknown) });

  const answeredMs = answerMs(incident, view);
  const withdrawal = withdraw({ incident, nowMs, settings }, answeredMs);
  if (withdrawal) return withdrawal;
  const turn = join(incident, view) ?? ask(incident, view);
  const staleMs = Math.max(1, staleAtMs({ incident, settings }, answeredMs) - nowMs);
  return turn.actions.length > 0
    ? turn
    : { actions: [], lookAgainInMs: Math.min(turn.lookAgainInMs ?? staleMs, staleMs) };
}

/** It shares a success; whatever else became of the execution, everything is decided again. */
function followOn(
  incident: RemediationRequest,
  { name, uid }: { name: string; uid: string },
  { executions, nowMs }: TargetView,
): Turn {
  const execution = executions.find(({ metadata }) => metadata.uid === uid);
  if (!execution) return startOver(incident, `execution ${name}, which it followed, is gone`);
  const { status } = execution;
  switch (status?.phase) {
    case undefined:
    case "Pending":
    case "Running":
      return nothing;
    case "Completed":
      return succeeded(incident, execution, status.completionTime, nowMs);
    case "Failed":
    case "Skipped":
      return startOver(
        incident,
        `execution ${name}, which it followed, was ${status.phase === "Failed" ? "a failure" : "skipped"}`,
      );
  }
}

/** Somebody is doing just that: nothing more has to be started. */
function join(incident: RemediationRequest, view: TargetView): Turn | undefined {
  const diagnosis = diagnosisOf(incident);
  const holderUid = view.record?.status?.holder?.executionUid;
  const same = view.executions
    .filter((execution) => mayStillAct(execution) && isSame(execution, diagnosis))
    .sort(byAge);
  const execution = same.find(({ metadata }) => metadata.uid === holderUid) ?? same[0];
  if (!execution) return undefined;
  const message = `execution ${execution.metadata.name} does just that`;
  const event = events.decided(incident, { verdict: "follow", execution, message, nowMs: view.nowMs });
  return act(
    { do: "record", event },
    { do: "set-status", status: following(incident, execution) },
    { do: "announce", what: { kind: "decided", verdict: "follow", message } },
  );
}

/** May it act now? */
function ask(incident: RemediationRequest, view: TargetView): Turn {
  const { nowMs } = view;
  const decision = decisionFor(requestOf(incident, view), view);
  if (decision.verdict === "block") return block(incident, decision, view);
  if (decision.observeOnly) {
    const { message } = decision;
    const event = events.decided(incident, { verdict: "observe", decision, message, nowMs });
    const { actions } = close(incident, { phase: "Completed", outcome: "Observed", message }, nowMs);
    return act({ do: "record", event }, ...actions);
  }
  const notBeforeMs = patienceMs(incident, view);
  if (nowMs < notBeforeMs) return waitUntil(notBeforeMs, nowMs);
  return approve(incident, decision, view) ?? start(incident, decision, view);
}

function requestOf({ status, spec }: RemediationRequest, { namespace }: TargetView): ActionRequest {
  const { target = "", workflowId = "" } = status?.diagnosis ?? {};
  return { target, workflowId, fingerprint: spec.signalFingerprint, ...(namespace === undefined ? {} : { namespace }) };
}

function decisionFor(request: ActionRequest, view: TargetView): Decision {
  const { catalog, pauses, settings, nowMs } = view;
  const entry = catalog.find(request.workflowId);
  const record = asHeld(view);
  return decidePolicy(request, { record, workflow: entry && workflowRules(entry), pauses, settings, nowMs });
}

/** An execution that was not admitted yet, or whose end is not in the record yet, holds the target as far as we care. */
function asHeld({ record, executions, settings }: TargetView): RemediationTargetStatus | undefined {
  if (record?.status?.holder) return record.status;
  const [first] = executions.filter(isPendingOrUnsettled).sort(byAge);
  return first ? { ...record?.status, holder: holderOf(first, settings) } : record?.status;
}

function isPendingOrUnsettled(execution: WorkflowExecution): boolean {
  return isUnfinished(execution) || (execution.status?.phase !== "Skipped" && !isRecorded(execution));
}

function holderOf({ metadata, spec }: WorkflowExecution, { engine }: OrchestratorSettings): TargetHolder {
  return {
    executionUid: metadata.uid ?? "",
    executionName: metadata.name ?? "",
    executionNamespace: metadata.namespace ?? "",
    workflowId: spec.workflowRef.workflowId,
    engine: spec.workflowRef.engine ?? engine,
    since: new Date(metadata.creationTimestamp ?? 0).toISOString(),
  };
}

function block(incident: RemediationRequest, decision: Blocked, view: TargetView): Turn {
  const { nowMs, record } = view;
  const { reason, cause, message, nextStep, clearsAtMs, holder, requiresManualReview: review, earlier } = decision;
  const ack = review ? acknowledgementOn(incident) : undefined;
  if (ack && record && earlier) {
    return act(
      { do: "acknowledge", record, executionUid: earlier.executionUid },
      { do: "announce", what: { kind: "acknowledged", by: ack.by } },
    );
  }
  if (isStillBlocked(incident, decision)) return clearsAtMs === undefined ? nothing : waitUntil(clearsAtMs, nowMs);

  const event = events.decided(incident, { verdict: "block", decision, nowMs });
  const next = {
    reason,
    ...(cause === undefined ? {} : { cause }),
    message: `${message}. Next: ${nextStep}`,
    ...(clearsAtMs === undefined ? {} : { until: new Date(clearsAtMs).toISOString() }),
    ...(holder === undefined ? {} : { holder }),
    decision: event.id,
  };
  const notice = review
    ? needsPerson(incident, { reason, message: next.message, nextStep, earlierUid: earlier?.executionUid })
    : undefined;
  return act(
    { do: "record", event },
    ...(notice ? [{ do: "notify", notice } as const] : []),
    { do: "set-status", status: blocked(incident, next, { review, nowMs }) },
    { do: "announce", what: { kind: "decided", verdict: "block", reason, message } },
  );
}

/** For the same reason, until the same time. How long that is from now on changes with every look, and is no news. */
function isStillBlocked({ status }: RemediationRequest, decision: Blocked): boolean {
  if (status?.phase !== "Blocked") return false;
  const { reason, cause, until, holder, message } = status.block;
  const untilMs = until === undefined ? undefined : Date.parse(until);
  return (
    reason === decision.reason &&
    cause === decision.cause &&
    sameTime(untilMs, decision.clearsAtMs) &&
    holder?.executionUid === decision.holder?.executionUid &&
    message.endsWith(decision.nextStep)
  );
}

/** What the executor says of a skip is rounded up to seconds. */
function sameTime(one: number | undefined, other: number | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && Math.abs(one - other) < 1_000);
}

/**
 * The policy allows what executors refused a moment ago, again and again: they are configured otherwise, or look at
 * something else. Once is a race, and tried at once; more often it is tried ever more rarely.
 */
function patienceMs(incident: RemediationRequest, view: TargetView): number {
  const own = ownExecutions(incident, view).sort(byAge).reverse();
  const acted = own.findIndex(({ status }) => status?.phase !== "Skipped");
  const skips = acted < 0 ? own : own.slice(0, acted);
  const status = skips[0]?.status;
  if (skips.length < 2 || status?.phase !== "Skipped") return 0;
  return (
    Date.parse(status.skipDetails.skippedAt) +
    backoffMs(skips.length - 1, { baseMs: 1_000, maxMs: 300_000, jitter: 0 }, 0)
  );
}

/** Asks a person first, if the workflow says so and nobody has agreed yet. */
function approve(incident: RemediationRequest, decision: Decision, view: TargetView): Turn | undefined {
  const { nowMs, settings, catalog } = view;
  const entry = catalog.find(diagnosisOf(incident).workflowId);
  if (!entry?.spec.approval?.required) return undefined;
  const name = approvalNameFor(incident, view);
  const known = view.approvals.get(name);
  if (known?.status?.decision === "Approved") return undefined;
  const approval = known ?? draftApproval(incident, { name, entry, nowMs, settings });
  const message = `every check passes; ${entry.spec.workflowId} wants a person to agree`;
  const event = events.decided(incident, { verdict: "ask", decision, message, nowMs });
  return act(
    { do: "record", event },
    { do: "create-approval", approval },
    { do: "record", event: events.requested(incident, approval, nowMs) },
    { do: "notify", notice: approvalRequired(incident, approval) },
    { do: "set-status", status: awaitingApproval(incident, name) },
    { do: "announce", what: { kind: "decided", verdict: "ask", message } },
  );
}

/** The next look finds the execution, and writes down that it is the incident's. */
function start(incident: RemediationRequest, decision: Decision, view: TargetView): Turn {
  const { nowMs, catalog } = view;
  const entry = catalog.find(diagnosisOf(incident).workflowId);
  if (!entry) throw new TypeError("the policy allowed a workflow that is not in the catalog");
  const execution = draftExecution(incident, entry);
  const { message } = decision;
  const event = events.decided(incident, { verdict: "run", decision, execution, message, nowMs });
  return act(
    { do: "record", event },
    { do: "create-execution", execution },
    { do: "announce", what: { kind: "decided", verdict: "run", message } },
  );
}

/** One question for each run: an execution that was skipped has not used up the answer. */
export function approvalNameFor(incident: RemediationRequest, view: TargetView): string {
  const own = ownExecutions(incident, view);
  const skipped = own.filter(({ status }) => status?.phase === "Skipped").length;
  return approvalName(incident, refs(incident).length - skipped + 1);
}

/** When a person agreed to it; 0 if nobody was asked. */
function answerMs(incident: RemediationRequest, view: TargetView): number {
  return Date.parse(view.approvals.get(approvalNameFor(incident, view))?.status?.decidedAt ?? "") || 0;
}

function ownExecutions({ metadata }: RemediationRequest, { executions }: TargetView): WorkflowExecution[] {
  return executions.filter((execution) => isOwnedBy(execution, metadata.uid));
}

/** By uid: a name can be used again. */
export function isOwnedBy({ metadata }: Pick<WorkflowExecution, "metadata">, uid: string | undefined): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) ?? false;
}

function isKnown(incident: RemediationRequest, { metadata }: WorkflowExecution): boolean {
  return refs(incident).some(({ uid }) => uid === metadata.uid);
}

function refs({ status }: RemediationRequest) {
  return status?.executionRefs ?? [];
}

function isSame({ spec }: WorkflowExecution, { workflowId, parameters = {} }: Diagnosis): boolean {
  return spec.workflowRef.workflowId === workflowId && textOf(spec.parameters ?? {}) === textOf(parameters);
}

function textOf(parameters: Readonly<Record<string, ParameterValue>>): string {
  return JSON.stringify(Object.entries(parameters).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Oldest first; objects of one second by uid, so that all replicas agree. */
export function byAge(
  { metadata: one }: { metadata: RemediationRequest["metadata"] },
  { metadata: other }: { metadata: RemediationRequest["metadata"] },
): number {
  return ageKey(one) < ageKey(other) ? -1 : 1;
}

function ageKey({ creationTimestamp = "", uid = "" }: RemediationRequest["metadata"]): string {
  return `${creationTimestamp} ${uid}`;
}
