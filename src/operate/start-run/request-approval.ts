import { iso } from "../../kube/index.ts";
import {
  managedBy,
  type ParameterValue,
  type RemediationApprovalRequest,
  type RemediationWorkflow,
  remediationApprovalRequests,
} from "../../resources/index.ts";
import { parseDuration } from "../../time/index.ts";
import { createOnce } from "../create-once.ts";
import { type OperationCall, type OperationResult, objectKey } from "../operation.ts";

/** A run that passed all checks before the policy's. */
export interface PlannedRun {
  /** Of the execution, and of the approval that it needs. */
  readonly name: string;
  readonly entry: RemediationWorkflow;
  /** In canonical form. */
  readonly target: string;
  readonly parameters: Readonly<Record<string, ParameterValue>>;
}

export type RunCall = OperationCall<{ readonly reason: string; readonly key: string; readonly dryRun?: boolean }>;

/** Requests the approval of one run. It is requested where incidents are: only there an answer counts. */
export async function requestApproval(
  { name, entry, target, parameters }: PlannedRun,
  call: RunCall,
): Promise<OperationResult> {
  const { context } = call;
  const { workflowId, version, approval } = entry.spec;
  const waitMs = parseDuration(approval?.expiresAfter ?? "") ?? context.approvalExpiresAfterMs;
  const draft: RemediationApprovalRequest = {
    apiVersion: remediationApprovalRequests.apiVersion,
    kind: remediationApprovalRequests.kind,
    metadata: { name, namespace: context.incidentsIn, labels: { [managedBy.label]: managedBy.value } },
    spec: {
      targetResource: target,
      recommendedWorkflow: {
        workflowId,
        version,
        parameters,
        rationale: rationale(call),
      },
      whyApprovalRequired: `workflow ${workflowId} requires an approval before each run`,
      requiredBy: iso(context.client.serverNowMs() + waitMs),
    },
  };
  return approvalResult(await createOnce(remediationApprovalRequests, draft, call, contentOf), call);
}

/** Why the workflow is to run. */
export function rationale({ request, caller }: RunCall): string {
  return `${caller.name} wants to run it: ${request.reason}`;
}

/** The result of a request that needs an approval first. */
export function approvalResult(requested: RemediationApprovalRequest, { request }: RunCall): OperationResult {
  const { name } = requested.metadata;
  const verb = request.dryRun ? "would be" : "was";
  const answer = request.dryRun ? "" : `; answer with: interlock approve ${name} --reason "…"`;
  return {
    message: `approval ${name} ${verb} requested until ${requested.spec.requiredBy}${answer}`,
    kind: "approvals",
    object: objectKey(requested),
  };
}

/** The version is that of the catalog at the first attempt, and the deadline counts from there. */
function contentOf({ spec: { targetResource, recommendedWorkflow } }: RemediationApprovalRequest): unknown {
  const { workflowId, parameters = {}, rationale } = recommendedWorkflow;
  return { targetResource, workflowId, parameters, rationale };
}
