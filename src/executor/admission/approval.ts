import { isDeepStrictEqual } from "node:util";
import { findHistory, listEnds } from "../../policy/index.ts";
import {
  annotationKeys,
  keptEnds,
  type RemediationApprovalRequest,
  type RemediationTargetStatus,
  type UsedApproval,
  type WorkflowExecution,
} from "../../resources/index.ts";
import type { ValidPlan } from "./plan.ts";

/** Returns the name of the approval that an execution refers to; undefined if it refers to none. */
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
  const fix = `request one with: interlock run ${workflowId} --target ${plan.target.text}`;
  const name = approvalName(execution);
  if (name === undefined) return `${need}, and the execution refers to none: ${fix}`;
  if (!approval) return `${need}, and there is no approval ${name} where incidents are: ${fix}`;
  const problem = decisionProblem(approval) ?? scopeProblem(approval, check) ?? useProblem(approval, check);
  return problem && `${need}, and ${name} ${problem}: ${fix}`;
}

function decisionProblem({ spec, status }: RemediationApprovalRequest): string | undefined {
  if (!status) return "is not decided yet";
  if (status.decision !== "Approved") return `is ${status.decision}`;
  const isLate = Date.parse(status.decidedAt) > Date.parse(spec.requiredBy);
  return isLate ? `was decided after ${spec.requiredBy}` : undefined;
}

function scopeProblem({ spec }: RemediationApprovalRequest, { execution, plan }: ApprovalCheck): string | undefined {
  const { workflowRef, remediationRequestRef, parameters } = execution.spec;
  const { recommendedWorkflow } = spec;
  if (recommendedWorkflow.workflowId !== workflowRef.workflowId)
    return `is for workflow ${recommendedWorkflow.workflowId}`;
  if (recommendedWorkflow.version !== plan.version) return `is for version ${recommendedWorkflow.version ?? "unknown"}`;
  if (spec.targetResource !== plan.target.text) return `is for ${spec.targetResource}`;
  if (spec.remediationRequestRef?.name !== remediationRequestRef?.name) return "is for another incident";
  if (spec.remediationRequestRef?.uid !== remediationRequestRef?.uid) return "is for another incident";
  const isSame = isDeepStrictEqual(recommendedWorkflow.parameters ?? {}, parameters ?? {});
  return isSame ? undefined : "is for other parameters";
}

/** An approval that is older than the history of the record may have been used by an execution that the record dropped. */
function useProblem({ metadata, status }: RemediationApprovalRequest, { execution, record }: ApprovalCheck) {
  const { uid } = metadata;
  const history = findHistory(record, execution.spec.workflowRef.workflowId);
  if (!history) return undefined;
  const otherUse = listEnds(history).find(
    ({ approvalUid, executionUid }) => approvalUid === uid && executionUid !== execution.metadata.uid,
  );
  if (otherUse) return `was used by ${otherUse.executionNamespace}/${otherUse.executionName}`;
  const oldest = history.recentEnds.length === keptEnds ? history.recentEnds.at(-1) : undefined;
  const isOlder = oldest && status && Date.parse(status.decidedAt) <= Date.parse(oldest.completedAt);
  return isOlder ? "is older than the history of this target" : undefined;
}

/** Returns the approval in the form of the record. */
export function usedApproval({ metadata, status }: RemediationApprovalRequest): UsedApproval {
  const decidedBy = status && "decidedBy" in status ? status.decidedBy : "unknown";
  return { name: metadata.name ?? "", uid: metadata.uid ?? "", decidedBy };
}
