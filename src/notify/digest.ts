import { nameHash } from "../kube/index.ts";
import { type NotificationRequest, notificationRequests } from "../resources/index.ts";

/** One notice for many skips. Its name follows from the oldest, so that it is made once. */
export function digestOf(members: readonly NotificationRequest[]): NotificationRequest {
  const [oldest] = members;
  if (!oldest) throw new TypeError("a digest is of something");
  const { targetResource } = oldest.spec.context ?? {};
  const { apiVersion, kind } = notificationRequests;
  const entries = members.map((member) => ({ name: entryName(member), message: member.spec.message }));
  return {
    apiVersion,
    kind,
    metadata: {
      name: `notif-${nameHash(`${oldest.metadata.uid}/digest`)}`,
      namespace: oldest.metadata.namespace ?? "",
    },
    spec: {
      eventType: "WorkflowSkipped",
      severity: "info",
      message: `${entries.length} workflow executions on ${targetResource ?? "one target"} were skipped: ${reasons(members)}`,
      context: { ...(targetResource && { targetResource }), entries },
    },
  };
}

/** Which of `members` a digest stands for: one that was made before more came does not know them. */
export function toldIn(digest: NotificationRequest, members: readonly NotificationRequest[]): NotificationRequest[] {
  const names = new Set(digest.spec.context?.entries?.map(({ name }) => name));
  return members.filter((member) => names.has(entryName(member)));
}

/** Each notice has one of its own, even if an execution had several. */
function entryName({ metadata }: NotificationRequest): string {
  return metadata.name ?? "";
}

/** The most frequent first: notices of one second have no order of their own. */
function reasons(members: readonly NotificationRequest[]): string {
  const counts = new Map<string, number>();
  for (const { spec } of members) {
    const reason = spec.context?.skipReason ?? "other";
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
  return sorted.map(([reason, count]) => `${count} × ${reason}`).join(", ");
}
