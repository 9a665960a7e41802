import type { KubeObject } from "../../kube/index.ts";
import type { Wire } from "../../schema/index.ts";
import { ageColumn, defineKind } from "./define-kind.ts";
import type { spec, status } from "./schemas/remediation-approval-request.ts";

/** A question to a person: may this workflow act on this target? It reserves nothing. */
export interface RemediationApprovalRequest extends KubeObject {
  readonly spec: Wire<typeof spec>;
  /** Absent until it is answered or expired. */
  readonly status?: RemediationApprovalRequestStatus;
}

export type RemediationApprovalRequestStatus = Wire<typeof status>;

export const remediationApprovalRequests = defineKind<RemediationApprovalRequest>({
  kind: "RemediationApprovalRequest",
  shortName: "rar",
  selectable: ["spec.targetResource"],
  columns: [
    { name: "Decision", type: "string", jsonPath: ".status.decision" },
    { name: "Workflow", type: "string", jsonPath: ".spec.recommendedWorkflow.workflowId" },
    { name: "Target", type: "string", jsonPath: ".spec.targetResource" },
    { name: "Required by", type: "string", jsonPath: ".spec.requiredBy" },
    { name: "Decided by", type: "string", jsonPath: ".status.decidedBy" },
    { name: "Incident", type: "string", jsonPath: ".spec.remediationRequestRef.name", priority: 1 },
    ageColumn,
  ],
});
