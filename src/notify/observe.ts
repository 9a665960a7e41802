import type { KubeClient } from "../kube/index.ts";
import type { NotificationRequest } from "../resources/index.ts";
import { isSettled, isSkip, maxDigestEntries, type NotifySettings, type Snapshot } from "./decide.ts";
import { channelsFor, type Route } from "./route.ts";
import type { SkipQueues } from "./skip-queues.ts";

export interface Caches {
  readonly client: KubeClient;
  readonly skips: SkipQueues;
  readonly routes: readonly Route[];
  /** The names of the configured channels. */
  readonly channelNames: readonly string[];
  readonly settings: NotifySettings;
}

export function observe(notice: NotificationRequest, caches: Caches, { isFresh = false } = {}): Snapshot {
  return {
    notice,
    isFresh,
    skips: caches.skips.listOldest(notice, maxDigestEntries),
    channels: channelsFor(notice, { routes: caches.routes, channels: caches.channelNames }),
    settings: caches.settings,
    nowMs: caches.client.serverNowMs(),
  };
}

/**
 * Returns the key of the digest for an unsettled notice: one per target, and one for all incidents that no rule
 * matches. Undefined if the notice belongs to no digest.
 */
export function digestKey(notice: NotificationRequest): string | undefined {
  if (!isSkip(notice) || isSettled(notice.status)) return undefined;
  const { eventType, context } = notice.spec;
  const about = context?.skipReason === "NoMatchingRule" ? context.skipReason : (context?.targetResource ?? "");
  return `${notice.metadata.namespace} ${eventType} ${about}`;
}
