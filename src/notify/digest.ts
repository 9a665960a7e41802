import { nameHash } from "../kube/index.ts";
import { type NotificationRequest, notificationRequests } from "../resources/index.ts";

/** Drafts one notice for many skips or blocked incidents. Its name derives from the oldest, so it is created once. */
export function toDigest(members: readonly NotificationRequest[]): NotificationRequest {
  const [oldest] = members;
  if (!oldest) throw new TypeError("a digest needs members");
  const { eventType } = oldest.spec;
  const targetResource = sharedTarget(members);
  const { apiVersion, kind } = notificationRequests;
  const entries = members.map(({ metadata, spec }) => ({ name: metadata.name ?? "", message: spec.message }));
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

/** Incidents that no rule matches share a digest, regardless of their targets. */
function sharedTarget(members: readonly NotificationRequest[]): string | undefined {
  const targets = new Set(members.map(({ spec }) => spec.context?.targetResource));
  const [only] = targets;
  return targets.size === 1 ? only : undefined;
}

function subjects(eventType: NotificationRequest["spec"]["eventType"], target: string | undefined): string {
  const place = target === undefined ? "" : ` on ${target}`;
  return eventType === "IncidentBlocked" ? `incidents${place} wait` : `workflow executions${place} were skipped`;
}

/** Returns the members that the digest contains: an existing digest may be older than some members. */
export function membersIn(digest: NotificationRequest, members: readonly NotificationRequest[]): NotificationRequest[] {
  const names = new Set(digest.spec.context?.entries?.map(({ name }) => name));
  return members.filter(({ metadata }) => names.has(metadata.name ?? ""));
}

/** The most frequent reason first: notices of one second have no order. */
function reasons(members: readonly NotificationRequest[]): string {
  const counts = new Map<string, number>();
  for (const { spec } of members) {
    const reason = spec.context?.skipReason ?? "other";
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
  return sorted.map(([reason, count]) => `${count} × ${reason}`).join(", ");
}
