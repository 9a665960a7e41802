import type { KubeObject, ResourceType } from "../../kube/index.ts";
import {
  automationPauses,
  type CodingTask,
  type CodingTaskSpec,
  closedTaskStatus,
  codingTasks,
  describeStall,
  findStall,
  isClosedTask,
  type NotificationRequest,
  notificationRequests,
  type RemediationApprovalRequest,
  type RemediationTarget,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  workflowExecutions,
} from "../../resources/index.ts";
import { cutText } from "../../telemetry/index.ts";
import type { ApprovalRow, NoticeRow, Row, RowKind, TargetRow, TaskRow } from "../wire.ts";
import { toExecutionRow } from "./execution-row.ts";
import { fitRow } from "./fit-row.ts";
import { toIncidentRow } from "./incident-row.ts";
import { toPauseRow } from "./pause-row.ts";
import { field, rowBase, rowKey, rowText } from "./row-base.ts";

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

export function toApprovalRow(approval: RemediationApprovalRequest): ApprovalRow {
  const { metadata, spec, status } = approval;
  const incident = spec.remediationRequestRef;
  return fitRow({
    kind: "approvals",
    ...rowBase(approval),
    workflow: spec.recommendedWorkflow.workflowId,
    target: spec.targetResource,
    why: rowText(spec.recommendedWorkflow.rationale ?? spec.whyApprovalRequired),
    ...field("incident", incident && rowKey(incident, metadata.namespace)),
    requiredBy: spec.requiredBy,
    ...field("decision", status?.decision),
    ...field("decidedBy", status && "decidedBy" in status ? status.decidedBy : undefined),
    ...field("decidedAt", status?.decidedAt),
  });
}

export function toTargetRow(record: RemediationTarget): TargetRow {
  const holder = record.status?.holder;
  return fitRow({
    kind: "targets",
    ...rowBase(record),
    target: record.spec.targetResource,
    ...field("holder", holder && rowKey({ namespace: holder.executionNamespace, name: holder.executionName })),
    ...field("fence", holder && record.metadata.resourceVersion),
    ...field("heldSince", holder?.since),
    waiting: 0,
  });
}

export function toTaskRow(task: CodingTask): TaskRow {
  const { spec, status } = task;
  const message = taskMessage(task);
  return fitRow({
    kind: "tasks",
    ...rowBase(task),
    phase: status?.phase ?? "Pending",
    type: spec.type,
    project: spec.project.path,
    reference: taskReference(spec),
    author: spec.requestedBy ?? "",
    ...field("message", message && rowText(message)),
    ...field("endedAt", closedTaskStatus(task)?.completionTime),
  });
}

/** The merge request or issue, as people write it: !12 or PROJ-123. */
function taskReference(spec: CodingTaskSpec): string {
  return spec.type === "Issue" ? spec.issue.key : `!${spec.mergeRequest.iid}`;
}

function taskMessage(task: CodingTask): string | undefined {
  const { status } = task;
  if (status?.phase === "Failed") return status.failure.message;
  const stall = isClosedTask(task) ? undefined : findStall(task);
  return stall ? describeStall(stall) : status?.message;
}

/** An installation has a handful of channels; a row has no room for more. */
const maxChannels = 8;

export function toNoticeRow(notice: NotificationRequest): NoticeRow {
  const { metadata, spec, status } = notice;
  const incident = spec.remediationRequestRef;
  const channels = new Set((status?.deliveryAttempts ?? []).map(({ channel }) => cutText(channel, 40)));
  return fitRow({
    kind: "notices",
    ...rowBase(notice),
    phase: status?.phase ?? "Pending",
    subject: rowText(`${spec.eventType}: ${spec.message}`),
    ...field("incident", incident && rowKey(incident, metadata.namespace)),
    channels: [...channels].slice(0, maxChannels),
  });
}
