import { historyOf } from "../../policy/index.ts";
import {
  annotationKeys,
  type ExecutionEnd,
  keptEnds,
  type ParameterValue,
  type RemediationApprovalRequest,
  type RemediationTargetStatus,
  type UsedApproval,
  type WorkflowExecution,
} from "../../resources/index.ts";
import type { ValidPlan } from "./plan.ts";

/** The name of the approval that an execution refers to, if it refers to one. */
export function approvalName({ metadata }: WorkflowExecution): string | undefined {
  return metadata.annotations?.[annotationKeys.approval];
}

export interface ApprovalCheck {
  readonly execution: WorkflowExecution;
  readonly plan: ValidPlan;
  /** The approval that the execution refers to, read from the server. */
  readonly approval: RemediationApprovalRequest | undefined;
  /** The target record. */
  readonly record: RemediationTargetStatus | undefined;
}

/**
 * Returns why an execution is not approved, as a sentence without a full stop; undefined if it is. An approval covers one run of
 * one version of one workflow with the same parameters on one target, for the same incident, if there is one.
 */
export function approvalProblem(check: ApprovalCheck): string | undefined {
  const { execution, approval, plan } = check;
  const { workflowId } = execution.spec.workflowRef;
  const need = `workflow ${workflowId} requires an approval`;
  const ask = `ask for one with: interlock run ${workflowId} --target ${plan.target.text}`;
  const name = approvalName(execution);
  if (name === undefined) return `${need}, and the execution refers to none: ${ask}`;
  if (!approval) return `${need}, and there is no approval ${name} where incidents are: ${ask}`;
  const problem = answerProblem(approval) ?? coverProblem(approval, check) ?? useProblem(approval, check);
  return problem && `${need}, and ${name} ${problem}: ${ask}`;
}

function answerProblem({ spec, status }: RemediationApprovalRequest): string | undefined {
  if (!status) return "is not answered yet";
  if (status.decision !== "Approved") return `is ${status.decision}`;
  return Date.parse(status.decidedAt) > Date.parse(spec.requiredBy)
    ? `was answered after ${spec.requiredBy}`
    : undefined;
}

function coverProblem({ spec }: RemediationApprovalRequest, { execution, plan }: ApprovalCheck): string | undefined {
  const { workflowRef, remediationRequestRef, parameters } = execution.spec;
  const { recommendedWorkflow } = spec;
  if (recommendedWorkflow.workflowId !== workflowRef.workflowId)
    return `is for workflow ${recommendedWorkflow.workflowId}`;
  if (recommendedWorkflow.version !== plan.version) return `is for version ${recommendedWorkflow.version ?? "unknown"}`;
  if (spec.targetResource !== plan.target.text) return `is for ${spec.targetResource}`;
  if (spec.remediationRequestRef?.name !== remediationRequestRef?.name) return "is for another incident";
  if (spec.remediationRequestRef?.uid !== remediationRequestRef?.uid) return "is for another incident";
  return sameParameters(recommendedWorkflow.parameters, parameters) ? undefined : "is for other parameters";
}

/** An approval that is older than the history of the record may have been used by an execution that the record dropped. */
function useProblem({ metadata, status }: RemediationApprovalRequest, { execution, record }: ApprovalCheck) {
  const { uid } = metadata;
  const history = historyOf(record, execution.spec.workflowRef.workflowId);
  const ends = [
    ...(history?.recentEnds ?? []),
    history?.lastSuccess,
    history?.lastFailure,
    history?.lastExecutionFailure,
  ];
  const user = ends.find((end) => end?.approvalUid === uid && end?.executionUid !== execution.metadata.uid);
  if (user) return `was used by ${user.executionNamespace}/${user.executionName}`;
  const oldest: ExecutionEnd | undefined =
    history?.recentEnds.length === keptEnds ? history.recentEnds.at(-1) : undefined;
  const isForgotten = oldest && status && Date.parse(status.decidedAt) <= Date.parse(oldest.completedAt);
  return isForgotten ? "is older than what is remembered of this target" : undefined;
}

/** The approval as the record keeps it. */
export function usedApproval({ metadata, status }: RemediationApprovalRequest): UsedApproval {
  const decidedBy = status && "decidedBy" in status ? status.decidedBy : "unknown";
  return { name: metadata.name ?? "", uid: metadata.uid ?? "", decidedBy };
}

function sameParameters(
  a: Readonly<Record<string, ParameterValue>> = {},
  b: Readonly<Record<string, ParameterValue>> = {},
): boolean {
  const text = (parameters: typeof a) =>
    JSON.stringify(Object.entries(parameters).sort(([one], [other]) => (one < other ? -1 : 1)));
  return text(a) === text(b);
}
