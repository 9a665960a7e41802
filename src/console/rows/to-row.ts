import type { KubeObject } from "../../kube/index.ts";
import type {
  AutomationPause,
  CodingTask,
  NotificationRequest,
  RemediationApprovalRequest,
  RemediationRequest,
  RemediationTarget,
  WorkflowExecution,
} from "../../resources/index.ts";
import type { Row } from "../wire.ts";
import { toApprovalRow } from "./approval-row.ts";
import { toExecutionRow } from "./execution-row.ts";
import { toIncidentRow } from "./incident-row.ts";
import { toNoticeRow } from "./notice-row.ts";
import { toPauseRow } from "./pause-row.ts";
import { toTargetRow } from "./target-row.ts";
import { toTaskRow } from "./task-row.ts";

/** The row of an object by itself, without what a row shows of other objects; undefined for a kind without rows. */
export function toRow(object: KubeObject): Row | undefined {
  switch (object.kind) {
    case "RemediationRequest":
      return toIncidentRow(object as RemediationRequest);
    case "WorkflowExecution":
      return toExecutionRow(object as WorkflowExecution);
    case "RemediationApprovalRequest":
      return toApprovalRow(object as RemediationApprovalRequest);
    case "AutomationPause":
      return toPauseRow(object as AutomationPause);
    case "RemediationTarget":
      return toTargetRow(object as RemediationTarget);
    case "CodingTask":
      return toTaskRow(object as CodingTask);
    case "NotificationRequest":
      return toNoticeRow(object as NotificationRequest);
    default:
      return undefined;
  }
}
