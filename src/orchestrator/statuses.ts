import { isDeepStrictEqual } from "node:util";
import { iso } from "../kube/index.ts";
import type {
  Condition,
  Diagnosis,
  IncidentBlock,
  RemediationRequest,
  RemediationRequestStatus,
  WorkflowExecution,
} from "../resources/index.ts";
import type { IncidentOutcome } from "./action.ts";

type IncidentStatus = RemediationRequestStatus;

/** The incident is diagnosed, and waits to be routed with its target. */
export function diagnosedStatus(incident: RemediationRequest, diagnosis: Diagnosis, nowMs: number): IncidentStatus {
  const kept = keep(incident, "diagnosis", "follows", "conditions");
  return {
    ...kept,
    phase: "Analyzing",
    startTime: kept.startTime ?? iso(nowMs),
    diagnosis,
    message: `${diagnosis.rule ? `rule ${diagnosis.rule} selects ` : ""}workflow ${diagnosis.workflowId} for ${diagnosis.target}`,
  };
}

/** The incident is analyzed again from the beginning, because its diagnosis may be outdated. */
export function startedOverStatus(incident: RemediationRequest, because: string): IncidentStatus {
  return { ...keep(incident, "diagnosis", "follows", "conditions"), phase: "Analyzing", message: because };
}

/** The incident is analyzed again, because the problem was reported again at `atMs`, after a successful run. */
export function recurredStatus(incident: RemediationRequest, because: string, atMs: number): IncidentStatus {
  return { ...startedOverStatus(incident, because), recurredAt: iso(atMs) };
}

export function blockedStatus(
  incident: RemediationRequest,
  block: IncidentBlock,
  { review, nowMs }: { review: boolean; nowMs: number },
): IncidentStatus {
  const kept = keep(incident, "follows", "conditions");
  return {
    ...kept,
    phase: "Blocked",
    startTime: kept.startTime ?? iso(nowMs),
    block,
    message: block.message,
    ...(review ? { requiresManualReview: true } : {}),
  };
}

/** The incident has no diagnosis, because no rule matches it. */
export function noRuleStatus(incident: RemediationRequest, block: IncidentBlock, nowMs: number): IncidentStatus {
  const kept = keep(incident, "diagnosis", "follows", "conditions");
  return { ...kept, phase: "Blocked", startTime: kept.startTime ?? iso(nowMs), block, message: block.message };
}

export function awaitingApprovalStatus(incident: RemediationRequest, approval: string): IncidentStatus {
  const message = `waits for an answer: interlock approve ${approval}, or interlock reject ${approval}`;
  return {
    ...keep(incident, "follows", "conditions"),
    diagnosis: requireDiagnosis(incident),
    phase: "AwaitingApproval",
    message,
  };
}

export function executingStatus(incident: RemediationRequest, execution: WorkflowExecution): IncidentStatus {
  const kept = keep(incident, "follows", "conditions");
  const ref = refTo(execution);
  return {
    ...kept,
    diagnosis: executedDiagnosis(execution, requireDiagnosis(incident)),
    phase: "Executing",
    executionRefs: [...(kept.executionRefs ?? []), ref],
    message: `started execution ${ref.name}`,
  };
}

export function followingStatus(incident: RemediationRequest, execution: WorkflowExecution): IncidentStatus {
  const follows = refTo(execution);
  return {
    ...keep(incident, "conditions"),
    diagnosis: requireDiagnosis(incident),
    phase: "Executing",
    follows,
    message: `follows execution ${follows.name}, which runs the same workflow with the same parameters`,
  };
}

export function verifyingStatus(
  incident: RemediationRequest,
  execution: WorkflowExecution,
  completedAt: string,
): IncidentStatus {
  const { name = "" } = execution.metadata;
  return {
    ...keep(incident, "conditions"),
    diagnosis: requireDiagnosis(incident),
    phase: "Verifying",
    conditions: [executedCondition(name, completedAt)],
    message: `execution ${name} succeeded; watching for a recurrence`,
  };
}

export interface Closing {
  readonly phase: "Completed" | "Failed" | "Withdrawn";
  readonly outcome: IncidentOutcome;
  readonly message: string;
  readonly review?: boolean;
}

export function closedStatus(
  incident: RemediationRequest,
  { phase, outcome, message, review }: Closing,
  nowMs: number,
): IncidentStatus {
  return {
    ...keep(incident),
    phase,
    outcome,
    message,
    completedAt: iso(nowMs),
    ...(review ? { requiresManualReview: true } : {}),
  } as IncidentStatus;
}

/** Returns when the run that is being verified ended. */
export function executedAtMs({ status }: RemediationRequest): number | undefined {
  const condition = status?.conditions?.find(({ type }) => type === "Executed");
  return condition && Date.parse(condition.lastTransitionTime);
}

function executedCondition(name: string, completedAt: string): Condition {
  const message = `execution ${name} succeeded`;
  return { type: "Executed", status: "True", reason: "Completed", message, lastTransitionTime: completedAt };
}

/** The incident is closed, and its end is in the ledger. */
export function recordedStatus(status: IncidentStatus, nowMs: number): IncidentStatus {
  return withRecorded(status, status.phase, nowMs);
}

interface WithConditions {
  readonly conditions?: readonly Condition[];
}

/** Returns the status with the condition that its outcome is in the ledger. */
export function withRecorded<S extends WithConditions>(status: S, reason: string, nowMs: number): S {
  const condition: Condition = {
    type: "Recorded",
    status: "True",
    reason,
    message: "the outcome is in the ledger",
    lastTransitionTime: iso(nowMs),
  };
  return {
    ...status,
    conditions: [...(status.conditions ?? []).filter(({ type }) => type !== condition.type), condition],
  };
}

export function isRecorded({ status }: { readonly status?: WithConditions }): boolean {
  return status?.conditions?.some(({ type }) => type === "Recorded") ?? false;
}

/** The incident may have been diagnosed again while the execution was created: the execution takes precedence. */
function executedDiagnosis({ spec }: WorkflowExecution, current: Diagnosis): Diagnosis {
  const { targetResource: target, workflowRef, parameters } = spec;
  const { workflowId } = workflowRef;
  const executed = { target, workflowId, ...(parameters === undefined ? {} : { parameters }) };
  const { rule: _, deferWhile: __, ...comparable } = current;
  return isDeepStrictEqual(executed, comparable) ? current : executed;
}

/** Returns the diagnosis, which the API server requires in these phases. */
export function requireDiagnosis({ status }: RemediationRequest): Diagnosis {
  if (!status?.diagnosis) throw new TypeError("an incident without a diagnosis has no target");
  return status.diagnosis;
}

function refTo({ metadata: { name = "", namespace = "", uid = "" } }: WorkflowExecution) {
  return { name, namespace, uid };
}

const keptKeys = [
  "deduplication",
  "resolvedAt",
  "recurredAt",
  "executionRefs",
  "startTime",
  "conditions",
  "diagnosis",
  "follows",
] as const;

type Kept = Pick<IncidentStatus, (typeof keptKeys)[number]>;

/** Returns the fields that stay from phase to phase. Fields of the gateway are included: they are written at the version that was read. */
function keep({ status }: RemediationRequest, ...without: readonly (keyof Kept)[]): Kept {
  const kept: Record<string, unknown> = {};
  for (const key of keptKeys) {
    if (status?.[key] !== undefined && !without.includes(key)) kept[key] = status[key];
  }
  return kept;
}
