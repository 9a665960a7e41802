import { exactly, refOf } from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { type NotificationRequest, type NotificationRequestStatus, notificationRequests } from "../resources/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import type { Channel, Delivery } from "./channel.ts";
import { afterTries, type Decision, isSettled, type Snapshot } from "./decide.ts";
import { digestOf, toldIn } from "./digest.ts";
import { settledEvent } from "./ledger-events.ts";
import { messageOf } from "./message.ts";
import type { NotifyMetrics } from "./metrics.ts";
import type { Caches } from "./observe.ts";

/** What a notifier works with. */
export interface Deps {
  readonly caches: Caches;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: NotifyMetrics;
  /** The longest that one try may take. */
  readonly timeoutMs: number;
}

/** Does what was decided. Returns in how many milliseconds to look again, if nothing happens before. */
export async function perform(
  decision: Decision,
  snapshot: Snapshot,
  deps: Deps,
  signal: AbortSignal,
): Promise<number | undefined> {
  switch (decision.do) {
    case "nothing":
      return undefined;
    case "wait":
      return decision.ms;
    case "settle":
      return setStatus(snapshot.notice, decision.status, deps, signal);
    case "digest":
      return digest(decision.members, deps, signal);
    case "deliver":
      return setStatus(snapshot.notice, await deliver(snapshot, decision.channels, deps, signal), deps, signal);
    case "remove":
      return remove(snapshot.notice, deps, signal);
  }
}

/** If it changed meanwhile it stays; the change is an event, after which everything is decided again. */
async function remove(notice: NotificationRequest, { caches }: Deps, signal: AbortSignal): Promise<undefined> {
  await caches.client.delete(notificationRequests, refOf(notice), { preconditions: exactly(notice) }, { signal });
}

async function deliver(
  snapshot: Snapshot,
  names: readonly string[],
  deps: Deps,
  signal: AbortSignal,
): Promise<NotificationRequestStatus> {
  const message = messageOf(snapshot.notice);
  const tried = await Promise.all(
    names.map(async (channel) => {
      const delivery = await tryOn(channel, message, deps, signal);
      deps.metrics.tried(channel, delivery.status);
      if (delivery.status !== "success") {
        deps.log.warn("notice not delivered", { notice: snapshot.notice.metadata.name, channel, ...delivery });
      }
      return { channel, delivery };
    }),
  );
  signal.throwIfAborted();
  return afterTries(snapshot, tried, deps.random.fraction());
}

async function tryOn(
  name: string,
  message: ReturnType<typeof messageOf>,
  { channels, clock, timeoutMs }: Deps,
  signal: AbortSignal,
): Promise<Delivery> {
  const channel = channels.get(name);
  if (!channel) return { status: "refused", error: `there is no channel ${name} any more` };
  const tooLong = new AbortController();
  const timer = clock.after(timeoutMs, () => tooLong.abort());
  try {
    return await channel.deliver(message, AbortSignal.any([signal, tooLong.signal]));
  } finally {
    timer.cancel();
  }
}

/** Told once, however often this is repeated: the digest's name follows from its oldest member. */
async function digest(
  members: readonly NotificationRequest[],
  deps: Deps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { client } = deps.caches;
  const wanted = digestOf(members);
  const outcome = await client.create(notificationRequests, wanted, { signal });
  const { name = "", namespace = "" } = wanted.metadata;
  const made =
    outcome.kind === "created" ? outcome.object : await client.get(notificationRequests, { name, namespace });
  if (!made) return 0;
  const completionTime = new Date(client.serverNowMs()).toISOString();
  const status = { phase: "Digested", completionTime, digest: name, message: `told of in ${name}` } as const;
  // The oldest last: as long as it is there, whoever dies here is followed by somebody who does the rest.
  for (const member of toldIn(made, members).reverse()) await setStatus(member, status, deps, signal);
  return undefined;
}

/** Recorded before it is written: what is settled is not looked at again. */
async function setStatus(
  notice: NotificationRequest,
  status: NotificationRequestStatus,
  { caches, ledger, metrics }: Deps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { client } = caches;
  if (isSettled(status)) await ledger.append(settledEvent(notice, status, client.serverNowMs()));
  const { name = "", namespace = "", uid } = notice.metadata;
  let current: NotificationRequest | undefined = notice;
  while (current && current.metadata.uid === uid && !isSettled(current.status)) {
    const next: NotificationRequest = { ...current, status };
    const outcome = await client.update(notificationRequests, next, { subresource: "status", signal });
    if (outcome.kind === "updated" && isSettled(status)) metrics.settled(status.phase);
    if (outcome.kind !== "conflict") return undefined;
    // Somebody put a label on it, say. People have been told all the same, and must not be told again.
    current = await client.get(notificationRequests, { name, namespace }, { signal });
  }
  return undefined;
}
