import { type Decision, decision, iso, nothing, requeueAfter, requeueAt } from "../kube/index.ts";
import type { NotificationRequest, NotificationRequestStatus } from "../resources/index.ts";
import { type Backoff, backoffMs } from "../time/index.ts";
import type { Delivery } from "./channel.ts";

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
export interface Snapshot {
  readonly notice: NotificationRequest;
  /** Whether the notice was read from the API server, and not from a cache. */
  readonly isFresh: boolean;
  /** The oldest unsettled notices for one digest with this one, at most `maxDigestEntries`, oldest first. */
  readonly skips: readonly NotificationRequest[];
  /** The channels that the routes select. */
  readonly channels: readonly string[];
  readonly settings: NotifySettings;
  readonly nowMs: number;
}

export type Action =
  | { readonly do: "digest"; readonly members: readonly NotificationRequest[] }
  | { readonly do: "deliver"; readonly channels: readonly string[] }
  | { readonly do: "settle"; readonly status: NotificationRequestStatus }
  | { readonly do: "remove" };

const act = decision<Action>;

/** The maximum number of entries in a digest. The rest is in the next one. */
export const maxDigestEntries = 100;

/** The oldest skip creates the digest. Until then, the others look again after this delay. */
const peerWaitMs = 5_000;

/**
 *   ∅ ─┬─ a skip, and others with it when the window ends ──▶ Digested (the digest is a notice of its own)
 *      ├─ no channel ──▶ Sent
 *      └─ deliver ─┬─▶ Sent │ PartiallySent │ Failed
 *                  └─▶ Retrying ── nextAttemptTime ──▶ deliver
 *
 * Settled notices are removed after the retention.
 */
export function decide(snapshot: Snapshot): Decision<Action> {
  const { notice, channels, nowMs } = snapshot;
  const { status } = notice;
  if (status && "completionTime" in status) return retain(status, snapshot);
  if (isSkip(notice) && !status) {
    const digest = decideSkip(snapshot);
    if (digest) return digest;
  }
  if (status?.phase === "Retrying" && Date.parse(status.nextAttemptTime) > nowMs) {
    return requeueAt(Date.parse(status.nextAttemptTime), nowMs);
  }
  if (channels.length === 0) {
    const message = "not delivered: no route matches";
    return act({ do: "settle", status: { phase: "Sent", completionTime: iso(nowMs), message } });
  }
  return act({ do: "deliver", channels: openChannels(snapshot, attemptsOf(status)) });
}

function retain({ completionTime }: SettledStatus, { notice, settings, nowMs }: Snapshot): Decision<Action> {
  if (notice.metadata.deletionTimestamp) return nothing;
  const leftMs = Date.parse(completionTime) + settings.retentionMs - nowMs;
  return leftMs > 0 ? requeueAfter(leftMs) : act({ do: "remove" });
}

type SettledStatus = Extract<NotificationRequestStatus, { completionTime: string }>;

function decideSkip({ notice, skips, settings, nowMs }: Snapshot): Decision<Action> | undefined {
  const [oldest = notice] = skips;
  if (settings.digestWindowMs === 0) return undefined;
  const leftMs = Date.parse(oldest.metadata.creationTimestamp ?? "") + settings.digestWindowMs - nowMs;
  if (leftMs > 0) return requeueAfter(leftMs);
  if (skips.length <= 1) return undefined;
  if (oldest.metadata.uid !== notice.metadata.uid) return requeueAfter(peerWaitMs);
  return act({ do: "digest", members: skips });
}

/** Returns the status of a notice after attempts on some channels. */
export function statusAfterAttempts(
  snapshot: Snapshot,
  tried: readonly { readonly channel: string; readonly delivery: Delivery }[],
  chance: number,
): NotificationRequestStatus {
  const { notice, channels, settings, nowMs } = snapshot;
  const before = attemptsOf(notice.status);
  const deliveryAttempts = [...before, ...tried.map((one) => toAttempt(one, before, nowMs))];
  const open = openChannels(snapshot, deliveryAttempts);
  const delivered = channels.filter((name) => isDelivered(name, deliveryAttempts));
  const message = statusMessage(channels, delivered, open);
  if (open.length > 0) {
    const tries = Math.max(...open.map((name) => countAttempts(name, deliveryAttempts)));
    const nextAttemptTime = iso(nowMs + backoffMs(tries, settings.backoff, chance));
    return { phase: "Retrying", nextAttemptTime, deliveryAttempts, message };
  }
  const phase = delivered.length === channels.length ? "Sent" : delivered.length > 0 ? "PartiallySent" : "Failed";
  return { phase, completionTime: iso(nowMs), deliveryAttempts, message };
}

type Attempts = NonNullable<NotificationRequestStatus["deliveryAttempts"]>;

function toAttempt(
  { channel, delivery }: { readonly channel: string; readonly delivery: Delivery },
  before: Attempts,
  nowMs: number,
): Attempts[number] {
  const attempt = countAttempts(channel, before) + 1;
  return { channel, attempt, at: iso(nowMs), ...delivery };
}

/** The channels without a delivery on which another attempt is allowed. */
function openChannels({ channels, settings }: Snapshot, attempts: Attempts): readonly string[] {
  return channels.filter(
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

function attemptsOf(status: NotificationRequestStatus | undefined): Attempts {
  return status?.deliveryAttempts ?? [];
}

function statusMessage(channels: readonly string[], delivered: readonly string[], open: readonly string[]): string {
  const given = channels.filter((name) => !delivered.includes(name) && !open.includes(name));
  const parts = [
    delivered.length > 0 && `delivered to ${delivered.join(", ")}`,
    open.length > 0 && `to be retried on ${open.join(", ")}`,
    given.length > 0 && `given up on ${given.join(", ")}`,
  ];
  return parts.filter(Boolean).join("; ");
}

/** A notice about an omitted action that is not a digest itself. */
export function isSkip({ spec }: NotificationRequest): boolean {
  return digestedTypes.has(spec.eventType) && spec.context?.entries === undefined;
}

const digestedTypes: ReadonlySet<string> = new Set(["WorkflowSkipped", "IncidentBlocked"]);

export function isSettled(status: NotificationRequestStatus | undefined): boolean {
  return ["Sent", "PartiallySent", "Failed", "Digested"].includes(status?.phase ?? "");
}
