import type { KubeObject, ResourceType } from "../../kube/index.ts";
import {
  automationPauses,
  codingTasks,
  notificationRequests,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  workflowExecutions,
} from "../../resources/index.ts";
import type { Row, RowKind } from "../wire.ts";
import { toApprovalRow } from "./approval-row.ts";
import { toExecutionRow } from "./execution-row.ts";
import { toIncidentRow } from "./incident-row.ts";
import { toNoticeRow } from "./notice-row.ts";
import { toPauseRow } from "./pause-row.ts";
import { toTargetRow } from "./target-row.ts";
import { toTaskRow } from "./task-row.ts";

interface RowType {
  readonly type: ResourceType;
  /** Without what a row shows of other objects. */
  toRow(object: KubeObject): Row;
}

/** The objects that rows of each kind show. */
export const rowTypes: Readonly<Record<RowKind, RowType>> = {
  incidents: rowType(remediationRequests, toIncidentRow),
  executions: rowType(workflowExecutions, toExecutionRow),
  approvals: rowType(remediationApprovalRequests, toApprovalRow),
  pauses: rowType(automationPauses, toPauseRow),
  targets: rowType(remediationTargets, toTargetRow),
  tasks: rowType(codingTasks, toTaskRow),
  notices: rowType(notificationRequests, toNoticeRow),
};

function rowType<T extends KubeObject>(type: ResourceType<T>, toRow: (object: T) => Row): RowType {
  return { type, toRow: (object) => toRow(object as T) };
}

/** The row of an object by itself; undefined for a kind without rows. */
export function toRow(object: KubeObject): Row | undefined {
  return Object.values(rowTypes)
    .find(({ type }) => type.kind === object.kind)
    ?.toRow(object);
}
