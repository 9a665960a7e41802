import type { NotificationRequest } from "./kinds/notification-request.ts";

/** Whether a notice may wait for others on its target, to be delivered with them as one digest. */
export function isDigested({ spec }: NotificationRequest): boolean {
  return digestedTypes.has(spec.eventType) && spec.context?.entries === undefined;
}

const digestedTypes: ReadonlySet<string> = new Set(["WorkflowSkipped", "IncidentBlocked"]);
