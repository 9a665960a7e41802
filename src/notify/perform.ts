import { deleteExactly, iso, type KubeClient, type Performed, refOf } from "../kube/index.ts";
import type { Ledger, LedgerEvent } from "../ledger/index.ts";
import {
  isSettled,
  type NotificationRequest,
  type NotificationRequestStatus,
  notificationRequests,
} from "../resources/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import { type Clock, type Random, timeLimit } from "../time/index.ts";
import type { Channel, Delivery } from "./channel.ts";
import { type Action, type Snapshot, statusAfterAttempts } from "./decide.ts";
import { membersIn, toDigest } from "./digest.ts";
import { toMessage } from "./message.ts";
import type { Caches } from "./observe.ts";

export interface Deps {
  readonly caches: Caches;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: ReturnType<typeof notifyMetrics>;
  /** The maximum time of one attempt. */
  readonly timeoutMs: number;
}

/** Performs one action. The next step of a notice follows from its status, whose change arrives as an event. */
export async function perform(
  action: Action,
  snapshot: Snapshot,
  deps: Deps,
  signal: AbortSignal,
): Promise<Performed<Snapshot>> {
  const { notice, isFresh } = snapshot;
  switch (action.do) {
    case "settle":
      await setStatus(notice, action.status, deps, signal);
      break;
    case "digest":
      await digest(action.members, deps, signal);
      break;
    case "end":
      await deps.caches.client.create(notificationRequests, action.notice, { signal });
      break;
    case "deliver":
      // The replica that delivered before may have done this already, and our watch may be late.
      if (!isFresh) return { kind: "stale" };
      await setStatus(notice, await deliver(snapshot, action.channels, deps, signal), deps, signal);
      break;
    case "remove":
      await deleteExactly(deps.caches.client, notificationRequests, notice, { signal });
      break;
  }
  return { kind: "waiting" };
}

async function deliver(
  snapshot: Snapshot,
  names: readonly string[],
  deps: Deps,
  signal: AbortSignal,
): Promise<NotificationRequestStatus> {
  const attempts = await Promise.all(
    names.map(async (channel) => {
      const delivery = await deliverOn(channel, snapshot, deps, signal);
      deps.metrics.deliveries.with({ channel, status: delivery.status }).inc();
      if (delivery.status !== "success") {
        deps.log.warn("notice delivery failed", { notice: snapshot.notice.metadata.name, channel, ...delivery });
      }
      return { channel, delivery };
    }),
  );
  signal.throwIfAborted();
  return statusAfterAttempts(snapshot, attempts, deps.random.fraction());
}

async function deliverOn(
  name: string,
  { notice, threads }: Snapshot,
  { channels, clock, timeoutMs }: Deps,
  signal: AbortSignal,
): Promise<Delivery> {
  const channel = channels.get(name);
  const thread = threads.get(name);
  if (!channel || !thread) return { status: "refused", error: `channel ${name} is not configured` };
  using limit = timeLimit(clock, timeoutMs, signal);
  const delivery = await channel.deliver(toMessage(notice, thread), limit.signal);
  if (delivery.status !== "success" || channel.style === "notices") return delivery;
  // The mark that this incident has a thread here. Most services use our key as its id.
  return { status: "success", thread: delivery.thread ?? thread.opened?.id ?? thread.key };
}

/** Safe to repeat: the digest's name derives from its oldest member. */
async function digest(members: readonly NotificationRequest[], deps: Deps, signal: AbortSignal): Promise<void> {
  const { client } = deps.caches;
  const draft = toDigest(members);
  const outcome = await client.create(notificationRequests, draft, { signal });
  const stored =
    outcome.kind === "created" ? outcome.object : await client.get(notificationRequests, refOf(draft), { signal });
  // It was removed since: the members are collected again.
  if (!stored) return;
  const completionTime = iso(client.serverNowMs());
  const { name = "" } = stored.metadata;
  const status = { phase: "Digested", completionTime, digest: name, message: `delivered in ${name}` } as const;
  // The oldest member comes last: while it is unsettled, another replica completes an interrupted digest.
  for (const member of membersIn(stored, members).reverse()) await setStatus(member, status, deps, signal);
}

/** Appended before the status is written: a settled notice is not observed again. */
async function setStatus(
  notice: NotificationRequest,
  status: NotificationRequestStatus,
  { caches, ledger, metrics }: Deps,
  signal: AbortSignal,
): Promise<void> {
  const { client } = caches;
  if (isSettled(status)) {
    try {
      await ledger.append(settledEvent(notice, status, client.serverNowMs()));
    } catch (error) {
      await keepAttempts(notice, status, client, signal);
      throw error;
    }
  }
  const written = await writeUnlessSettled(notice, status, client, signal);
  if (written && isSettled(status)) metrics.notices.with({ phase: status.phase }).inc();
}

/** While the end cannot be recorded, the notice is reconciled again and again, and must not be delivered each time. */
async function keepAttempts(
  notice: NotificationRequest,
  { deliveryAttempts, message = "" }: NotificationRequestStatus,
  client: KubeClient,
  signal: AbortSignal,
): Promise<void> {
  if (!deliveryAttempts || deliveryAttempts.length === notice.status?.deliveryAttempts?.length) return;
  const status = { phase: "Sending", deliveryAttempts, message: `${message}; not recorded in the ledger yet` } as const;
  await writeUnlessSettled(notice, status, client, signal);
}

/** Returns whether the status was written. */
async function writeUnlessSettled(
  notice: NotificationRequest,
  status: NotificationRequestStatus,
  client: KubeClient,
  signal: AbortSignal,
): Promise<boolean> {
  const { uid } = notice.metadata;
  let current: NotificationRequest | undefined = notice;
  while (current && current.metadata.uid === uid && !isSettled(current.status)) {
    const next: NotificationRequest = { ...current, status };
    const outcome = await client.update(notificationRequests, next, { subresource: "status", signal });
    if (outcome.kind !== "conflict") return outcome.kind === "updated";
    // Another client changed the object. The notice was delivered, and must not be delivered again.
    current = await client.get(notificationRequests, refOf(notice), { signal });
  }
  return false;
}

/** Returns the ledger event of a settled notice. Its id makes a repeated append harmless. */
function settledEvent(
  { metadata, spec }: NotificationRequest,
  status: NotificationRequestStatus,
  atMs: number,
): LedgerEvent {
  const type =
    status.phase === "Failed" ? "notice.failed" : status.phase === "Digested" ? "notice.digested" : "notice.sent";
  const { context = {}, remediationRequestRef } = spec;
  const delivered =
    status.deliveryAttempts?.flatMap(({ channel, status }) => (status === "success" ? [channel] : [])) ?? [];
  return {
    id: `${metadata.uid}/${type}`,
    type,
    at: iso(atMs),
    facts: {
      notice: `${metadata.namespace}/${metadata.name}`,
      event_type: spec.eventType,
      severity: spec.severity,
      message: status.message ?? spec.message,
      channels: delivered,
      ...(context.targetResource ? { target_resource: context.targetResource } : {}),
      ...(context.workflowId ? { workflow_id: context.workflowId } : {}),
      ...(context.execution ? { execution: `${metadata.namespace}/${context.execution}` } : {}),
      ...(remediationRequestRef ? { remediation_id: remediationRequestRef.name } : {}),
      ...(status.phase === "Digested" ? { digest: status.digest } : {}),
    },
  };
}

const channels = ["console", "file", "webhook", "slack", "mattermost", "teams", "pagerduty", "opsgenie", "email"];

/** Declares the notifier's metrics. */
export function notifyMetrics(metrics: Metrics) {
  return {
    deliveries: metrics.counter("notify_deliveries_total", "Delivery attempts by channel and status.", {
      channel: channels,
      status: ["success", "failed", "timeout", "refused"],
    }),
    notices: metrics.counter("notify_notices_total", "Settled notices by phase.", {
      phase: ["Sent", "PartiallySent", "Failed", "Digested"],
    }),
  };
}
