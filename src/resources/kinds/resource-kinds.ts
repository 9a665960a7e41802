import { automationPauses } from "./automation-pause.ts";
import { codingTasks } from "./coding-task.ts";
import type { Kind } from "./define-kind.ts";
import { notificationRequests } from "./notification-request.ts";
import { remediationApprovalRequests } from "./remediation-approval-request.ts";
import { remediationRequests } from "./remediation-request.ts";
import { remediationTargets } from "./remediation-target.ts";
import { remediationWorkflows } from "./remediation-workflow.ts";
import { workflowExecutions } from "./workflow-execution.ts";

/** All our kinds. */
export const resourceKinds: readonly Kind[] = [
  remediationRequests,
  workflowExecutions,
  remediationTargets,
  remediationWorkflows,
  notificationRequests,
  remediationApprovalRequests,
  automationPauses,
  codingTasks,
];
