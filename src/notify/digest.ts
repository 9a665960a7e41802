import { nameHash } from "../kube/index.ts";
import { type NotificationRequest, notificationRequests } from "../resources/index.ts";

/** One notice for many skips or blocked incidents. Its name follows from the oldest, so that it is made once. */
export function digestOf(members: readonly NotificationRequest[]): NotificationRequest {
  const [oldest] = members;
  if (!oldest) throw new TypeError("a digest is of something");
  const { eventType } = oldest.spec;
  const targetResource = sharedTarget(members);
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
      eventType,
      severity: "info",
      message: `${entries.length} ${subjects(eventType, targetResource)}: ${reasons(members)}`,
      context: { ...(targetResource && { targetResource }), entries },
    },
  };
}

/** Incidents that no rule matches share a digest, whatever they are about. */
function sharedTarget(members: readonly NotificationRequest[]): string | undefined {
  const targets = new Set(members.map(({ spec }) => spec.context?.targetResource));
  const [only] = targets;
  return targets.size === 1 ? only : undefined;
}

function subjects(eventType: NotificationRequest["spec"]["eventType"], target: string | undefined): string {
  const place = target === undefined ? "" : ` on ${target}`;
  return eventType === "IncidentBlocked" ? `incidents${place} wait` : `workflow executions${place} were skipped`;
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
