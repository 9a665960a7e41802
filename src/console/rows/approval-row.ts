import type { RemediationApprovalRequest } from "../../resources/index.ts";
import type { ApprovalRow } from "../wire.ts";
import { fitRow } from "./fit-row.ts";
import { field, rowBase, rowKey, rowText } from "./row-base.ts";

export function toApprovalRow(approval: RemediationApprovalRequest): ApprovalRow {
  const { metadata, spec, status } = approval;
  const incident = spec.remediationRequestRef;
  return fitRow({
    kind: "approvals",
    ...rowBase(approval),
    workflow: spec.recommendedWorkflow.workflowId,
    target: spec.targetResource,
    why: rowText(spec.whyApprovalRequired),
    ...field("incident", incident && rowKey(incident, metadata.namespace)),
    requiredBy: spec.requiredBy,
    ...field("decision", status?.decision),
    ...field("decidedBy", status && "decidedBy" in status ? status.decidedBy : undefined),
    ...field("decidedAt", status?.decidedAt),
  });
}
