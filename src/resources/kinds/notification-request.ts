import type { KubeObject } from "../../kube/index.ts";
import type { Wire } from "../../schema/index.ts";
import { ageColumn, defineKind, stalledColumn } from "./define-kind.ts";
import type { context, spec, status } from "./schemas/notification-request.ts";

/** A message to people. */
export interface NotificationRequest extends KubeObject {
  readonly spec: Wire<typeof spec>;
  readonly status?: NotificationRequestStatus;
}

export type NotificationRequestStatus = Wire<typeof status>;
export type NoticeContext = Wire<typeof context>;

export const notificationRequests = defineKind<NotificationRequest>({
  kind: "NotificationRequest",
  shortName: "notif",
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Event", type: "string", jsonPath: ".spec.eventType" },
    { name: "Severity", type: "string", jsonPath: ".spec.severity" },
    { name: "Target", type: "string", jsonPath: ".spec.context.targetResource" },
    { name: "Message", type: "string", jsonPath: ".spec.message", priority: 1 },
    stalledColumn,
    ageColumn,
  ],
});

export type SettledStatus = Extract<NotificationRequestStatus, { readonly completionTime: string }>;

/** Whether every delivery of a notice was made or given up, or a digest contains it. */
export function isSettled(status: NotificationRequestStatus | undefined): status is SettledStatus {
  return status !== undefined && "completionTime" in status;
}

/** Whether a notice may wait for others on its target, to be delivered with them as one digest. */
export function isDigested({ spec }: NotificationRequest): boolean {
  return digestedTypes.has(spec.eventType) && spec.context?.entries === undefined;
}

const digestedTypes: ReadonlySet<string> = new Set(["WorkflowSkipped", "IncidentBlocked"]);
