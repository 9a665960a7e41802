import { type Informer, type KubeClient, refOf } from "../kube/index.ts";
import {
  isDigested,
  isSettled,
  type NotificationRequest,
  notificationRequests,
  type RemediationRequest,
  withoutSignalTexts,
} from "../resources/index.ts";
import { maxDigestEntries, type NotifySettings, type Snapshot } from "./decide.ts";
import { channelsFor, type Route } from "./route.ts";
import type { SkipQueues } from "./skip-queues.ts";
import { type ChannelStyle, type Thread, threadOn } from "./thread.ts";

export interface Caches {
  readonly client: KubeClient;
  readonly notices: Informer<NotificationRequest, "incident">;
  /** Undefined if no channel follows incidents. */
  readonly incidents: Informer<RemediationRequest> | undefined;
  readonly skips: SkipQueues;
  readonly routes: readonly Route[];
  /** The configured channels. */
  readonly channels: readonly { readonly name: string; readonly style: ChannelStyle }[];
  readonly settings: NotifySettings;
}

export function observe(notice: NotificationRequest, caches: Caches): Snapshot {
  return { ...assemble(notice, listOthers(notice, caches), caches), isFresh: false };
}

/** Reads the notice and the others about its incident from the API server, as far as their status may still change. */
export async function observeFresh(
  cached: NotificationRequest,
  caches: Caches,
  signal: AbortSignal,
): Promise<Snapshot | undefined> {
  const { client, incidents } = caches;
  const read = (one: NotificationRequest) => client.get(notificationRequests, refOf(one), { signal });
  const notice = await read(cached);
  if (!notice || notice.metadata.uid !== cached.metadata.uid) return undefined;
  const others: NotificationRequest[] = [];
  for (const other of listOthers(notice, caches)) {
    const isFinal = isSettled(other.status) || incidents === undefined;
    const current = isFinal ? other : await read(other);
    if (current) others.push(current);
  }
  return { ...assemble(notice, others, caches), isFresh: true };
}

function assemble(notice: NotificationRequest, others: readonly NotificationRequest[], caches: Caches) {
  const { name = "", uid, namespace = notice.metadata.namespace ?? "" } = notice.spec.remediationRequestRef ?? {};
  const found = caches.incidents?.get({ name, namespace });
  const incident = found?.metadata.uid === uid ? found : undefined;
  const routed = channelsFor(notice, { routes: caches.routes, channels: caches.channels.map(({ name }) => name) });
  const threads = new Map<string, Thread>();
  for (const channel of caches.channels) {
    const thread = threadOn(channel, notice, { incident, others, isRouted: routed.includes(channel.name) });
    if (thread) threads.set(channel.name, thread);
  }
  return {
    notice,
    incident,
    others,
    threads,
    isRouted: routed.length > 0,
    skips: caches.skips.listOldest(notice, maxDigestEntries),
    settings: caches.settings,
    nowMs: caches.client.serverNowMs(),
  };
}

function listOthers(notice: NotificationRequest, { notices }: Caches): readonly NotificationRequest[] {
  const [uid] = incidentKeys(notice);
  if (uid === undefined) return [];
  return notices.byIndex("incident", uid).filter(({ metadata }) => metadata.uid !== notice.metadata.uid);
}

/** The index of notices by the uid of their incident. */
export function incidentKeys({ spec }: NotificationRequest): readonly string[] {
  const { uid } = spec.remediationRequestRef ?? {};
  return uid === undefined ? [] : [uid];
}

/** The incident as the cache keeps it: without the texts and the reports of its signals, which may be many. */
export function toCachedIncident(incident: RemediationRequest): RemediationRequest {
  const { status, ...cached } = withoutSignalTexts(incident);
  if (!status) return cached;
  const { deduplication: _deduplication, ...kept } = status;
  return { ...cached, status: kept };
}

/**
 * Returns the key of the digest for a notice that was not attempted yet: one per target, and one for all incidents that no
 * rule matches. Undefined if the notice belongs to no digest.
 */
export function digestKey(notice: NotificationRequest): string | undefined {
  if (!isDigested(notice) || notice.status) return undefined;
  const { eventType, context } = notice.spec;
  const about = context?.skipReason === "NoMatchingRule" ? context.skipReason : (context?.targetResource ?? "");
  return `${notice.metadata.namespace} ${eventType} ${about}`;
}
