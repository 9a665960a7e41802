import type { NotificationRequest, NotificationRequestStatus } from "../resources/index.ts";

/** A notice about an omitted action that is not a digest itself. */
export function isSkip({ spec }: NotificationRequest): boolean {
  return digestedTypes.has(spec.eventType) && spec.context?.entries === undefined;
}

const digestedTypes: ReadonlySet<string> = new Set(["WorkflowSkipped", "IncidentBlocked"]);

export function isSettled(status: NotificationRequestStatus | undefined): boolean {
  return ["Sent", "PartiallySent", "Failed", "Digested"].includes(status?.phase ?? "");
}
