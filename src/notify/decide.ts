import { type Decision, decision, iso, nothing, requeueAfter, requeueAt } from "../kube/index.ts";
import {
  closedNotice,
  isDigested,
  isSettled,
  type NotificationRequest,
  type NotificationRequestStatus,
  type SettledStatus,
} from "../resources/index.ts";
import { type Backoff, backoffMs } from "../time/index.ts";
import type { Delivery } from "./channel.ts";
import { hasThread, type IncidentState, isClosed, isEnd, isOver, isUnderWay, type Thread } from "./thread.ts";

export interface NotifySettings {
  /** Skips on one target are collected for this long, and delivered together. 0: each by itself. */
  readonly digestWindowMs: number;
  /** The maximum number of attempts on one channel. */
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  /** How long a settled notice is kept. */
  readonly retentionMs: number;
}

/** A notice and the state that its decision depends on. */
export interface Snapshot extends IncidentState {
  readonly notice: NotificationRequest;
  /** Whether the notice was read from the API server, and not from a cache. */
  readonly isFresh: boolean;
  /** The oldest unsettled notices for one digest with this one, at most `maxDigestEntries`, oldest first. */
  readonly skips: readonly NotificationRequest[];
  /** Whether a route selects a channel for the notice. */
  readonly isRouted: boolean;
  /** The channels that get the notice, with its place in the thread of the incident there. */
  readonly threads: ReadonlyMap<string, Thread>;
  readonly settings: NotifySettings;
  readonly nowMs: number;
}

export type Action =
  | { readonly do: "digest"; readonly members: readonly NotificationRequest[] }
  | { readonly do: "deliver"; readonly channels: readonly string[] }
  | { readonly do: "settle"; readonly status: NotificationRequestStatus }
  /** Creates the notice that resolves the threads of an incident. */
  | { readonly do: "end"; readonly notice: NotificationRequest }
  | { readonly do: "remove" };

const act = decision<Action>;

/** The maximum number of entries in a digest. The rest is in the next one. */
export const maxDigestEntries = 100;

/** The delay before a notice that waits for another one is reconciled again. */
const peerWaitMs = 5_000;

/**
 *   ∅ ─┬─ a skip, and others with it when the window ends ──▶ Digested (the digest is a notice of its own)
 *      ├─ the end of an incident, while another notice about it is under way: waits
 *      ├─ no channel ──▶ Sent
 *      └─ deliver ─┬─▶ Sent │ PartiallySent │ Failed
 *                  └─▶ Retrying ── nextAttemptTime ──▶ deliver
 *
 * When its incident is over, a settled notice with a thread creates the notice that resolves the thread. Settled notices
 * are removed after the retention.
 */
export function decide(snapshot: Snapshot): Decision<Action> {
  const { notice, threads, isRouted, nowMs } = snapshot;
  const { status } = notice;
  if (isSettled(status)) return endThread(snapshot) ?? retain(status, snapshot);
  if (isEnd(notice) && isTooEarly(snapshot)) return requeueAfter(peerWaitMs);
  if (isDigested(notice) && !status) {
    const digest = decideSkip(snapshot);
    if (digest) return digest;
  }
  if (status?.phase === "Retrying" && Date.parse(status.nextAttemptTime) > nowMs) {
    return requeueAt(Date.parse(status.nextAttemptTime), nowMs);
  }
  if (threads.size === 0) {
    const message = isRouted ? "not delivered: no channel needs it" : "not delivered: no route matches";
    return act({ do: "settle", status: { phase: "Sent", completionTime: iso(nowMs), message } });
  }
  return act({ do: "deliver", channels: openChannels(snapshot, listAttempts(status)) });
}

/** The notice about the end is delivered last, and only a closed incident shows whether a review is still needed. */
function isTooEarly({ incident, others }: Snapshot): boolean {
  return (incident !== undefined && !isClosed(incident)) || others.some(isUnderWay);
}

/** Every notice with a thread may create the end of its incident: the name of that notice is always the same. */
function endThread({ notice, incident, others }: Snapshot): Decision<Action> | undefined {
  if (!incident || !isOver(incident) || isEnd(notice) || !hasThread(notice) || others.some(isEnd)) return undefined;
  if (others.some(isUnderWay)) return requeueAfter(peerWaitMs);
  const end = closedNotice(incident);
  return end && act({ do: "end", notice: { ...end, spec: { ...end.spec, onlyOpenThreads: true } } });
}

function retain({ completionTime }: SettledStatus, snapshot: Snapshot): Decision<Action> {
  const { notice, settings, nowMs } = snapshot;
  if (notice.metadata.deletionTimestamp) return nothing;
  const leftMs = Date.parse(completionTime) + settings.retentionMs - nowMs;
  if (leftMs > 0) return requeueAfter(leftMs);
  return isNeeded(snapshot) ? requeueAfter(neededWaitMs) : act({ do: "remove" });
}

/** The id of a thread is lost with its notices, and a removed notice about the end would be created again. */
function isNeeded({ notice, incident, others }: Snapshot): boolean {
  if (!incident) return false;
  if (isEnd(notice)) return others.some(hasThread);
  const isResolved = others.some((other) => isEnd(other) && isSettled(other.status));
  return hasThread(notice) && !isResolved && !(isClosed(incident) && !isOver(incident));
}

const neededWaitMs = 60_000;

function decideSkip({ notice, skips, settings, nowMs }: Snapshot): Decision<Action> | undefined {
  const [oldest = notice] = skips;
  if (settings.digestWindowMs === 0) return undefined;
  const leftMs = Date.parse(oldest.metadata.creationTimestamp ?? "") + settings.digestWindowMs - nowMs;
  if (leftMs > 0) return requeueAfter(leftMs);
  if (skips.length <= 1) return undefined;
  if (oldest.metadata.uid !== notice.metadata.uid) return requeueAfter(peerWaitMs);
  return act({ do: "digest", members: skips });
}

interface ChannelAttempt {
  readonly channel: string;
  readonly delivery: Delivery;
}

/** Returns the status of a notice after attempts on some channels. */
export function statusAfterAttempts(
  snapshot: Snapshot,
  tried: readonly ChannelAttempt[],
  chance: number,
): NotificationRequestStatus {
  const { notice, settings, nowMs } = snapshot;
  const channels = [...snapshot.threads.keys()];
  const before = listAttempts(notice.status);
  const deliveryAttempts = [...before, ...tried.map((one) => toAttempt(one, before, nowMs))];
  const open = openChannels(snapshot, deliveryAttempts);
  const delivered = channels.filter((name) => isDelivered(name, deliveryAttempts));
  const message = statusMessage(channels, delivered, open);
  if (open.length > 0) {
    const tries = Math.max(...open.map((name) => countAttempts(name, deliveryAttempts)));
    const delayMs = Math.max(backoffMs(tries, settings.backoff, chance), requestedDelayMs(tried, settings));
    const nextAttemptTime = iso(nowMs + delayMs);
    return { phase: "Retrying", nextAttemptTime, deliveryAttempts, message };
  }
  const phase = delivered.length === channels.length ? "Sent" : delivered.length > 0 ? "PartiallySent" : "Failed";
  return { phase, completionTime: iso(nowMs), deliveryAttempts, message };
}

/** The delay that receivers request, limited: one receiver must not stop the retries on other channels. */
function requestedDelayMs(tried: readonly ChannelAttempt[], { backoff }: NotifySettings): number {
  const delays = tried.map(({ delivery }) => ("retryAfterMs" in delivery ? (delivery.retryAfterMs ?? 0) : 0));
  return Math.min(Math.max(0, ...delays), backoff.maxMs);
}

type Attempts = NonNullable<NotificationRequestStatus["deliveryAttempts"]>;

function toAttempt({ channel, delivery }: ChannelAttempt, before: Attempts, nowMs: number): Attempts[number] {
  const common = { channel, attempt: countAttempts(channel, before) + 1, at: iso(nowMs), status: delivery.status };
  if (delivery.status !== "success") return { ...common, error: delivery.error };
  return delivery.thread === undefined ? common : { ...common, thread: delivery.thread };
}

/** The channels without a delivery on which another attempt is allowed. */
function openChannels({ threads, settings }: Snapshot, attempts: Attempts): readonly string[] {
  return [...threads.keys()].filter(
    (name) =>
      !isDelivered(name, attempts) &&
      !attempts.some(({ channel, status }) => channel === name && status === "refused") &&
      countAttempts(name, attempts) < settings.maxAttempts,
  );
}

function isDelivered(name: string, attempts: Attempts): boolean {
  return attempts.some(({ channel, status }) => channel === name && status === "success");
}

function countAttempts(name: string, attempts: Attempts): number {
  return attempts.filter(({ channel }) => channel === name).length;
}

function listAttempts(status: NotificationRequestStatus | undefined): Attempts {
  return status?.deliveryAttempts ?? [];
}

function statusMessage(channels: readonly string[], delivered: readonly string[], open: readonly string[]): string {
  const failed = channels.filter((name) => !delivered.includes(name) && !open.includes(name));
  const parts = [
    delivered.length > 0 && `delivered to ${delivered.join(", ")}`,
    open.length > 0 && `to be retried on ${open.join(", ")}`,
    failed.length > 0 && `given up on ${failed.join(", ")}`,
  ];
  return parts.filter(Boolean).join("; ");
}
