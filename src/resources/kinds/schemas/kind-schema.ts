import type { Kind } from "../define-kind.ts";
import { automationPauseSchema } from "./automation-pause.ts";
import { codingTaskSchema } from "./coding-task.ts";
import type { KindSchema } from "./define-schema.ts";
import { notificationRequestSchema } from "./notification-request.ts";
import { remediationApprovalRequestSchema } from "./remediation-approval-request.ts";
import { remediationRequestSchema } from "./remediation-request.ts";
import { remediationTargetSchema } from "./remediation-target.ts";
import { remediationWorkflowSchema } from "./remediation-workflow.ts";
import { workflowExecutionSchema } from "./workflow-execution.ts";

const schemas: readonly KindSchema[] = [
  remediationRequestSchema,
  workflowExecutionSchema,
  remediationTargetSchema,
  remediationWorkflowSchema,
  notificationRequestSchema,
  remediationApprovalRequestSchema,
  automationPauseSchema,
  codingTaskSchema,
];

/** The schema of one of our kinds. */
export function kindSchema({ kind }: Pick<Kind, "kind">): KindSchema {
  const found = schemas.find((schema) => schema.kind === kind);
  if (!found) throw new TypeError(`${kind} has no schema`);
  return found;
}
