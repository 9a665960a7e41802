import { byAge, type Informer, type KubeClient } from "../kube/index.ts";
import type { NotificationRequest } from "../resources/index.ts";
import { isSettled, isSkip, type NotifySettings, type Snapshot } from "./decide.ts";
import { channelsFor, type Route } from "./route.ts";

export interface Caches {
  readonly client: KubeClient;
  readonly notices: Informer<NotificationRequest, "skips">;
  readonly routes: readonly Route[];
  /** The names of the configured channels. */
  readonly channelNames: readonly string[];
  readonly settings: NotifySettings;
}

export function observe(notice: NotificationRequest, caches: Caches, { isFresh = false } = {}): Snapshot {
  const [key = ""] = skipKey(notice);
  return {
    notice,
    isFresh,
    skips: caches.notices.byIndex("skips", key).toSorted(byAge),
    channels: channelsFor(notice, { routes: caches.routes, channels: caches.channelNames }),
    settings: caches.settings,
    nowMs: caches.client.serverNowMs(),
  };
}

/**
 * Returns the key of the digest for an unsettled notice: one per target, and one for all incidents that no rule
 * matches.
 */
export function skipKey(notice: NotificationRequest): readonly string[] {
  if (!isSkip(notice) || isSettled(notice.status)) return [];
  const { eventType, context } = notice.spec;
  const about = context?.skipReason === "NoMatchingRule" ? context.skipReason : (context?.targetResource ?? "");
  return [`${notice.metadata.namespace} ${eventType} ${about}`];
}
