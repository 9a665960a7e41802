import type { NotificationRequestStatus } from "../resources/index.ts";

export function isSettled(status: NotificationRequestStatus | undefined): boolean {
  return ["Sent", "PartiallySent", "Failed", "Digested"].includes(status?.phase ?? "");
}
