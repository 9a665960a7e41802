import { keyOf, type Locks, leading } from "../coordination/index.ts";
import { Controller, informer, type KubeClient, keysFrom, OwnWrites, type Problem } from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { type NotificationRequest, notificationRequests } from "../resources/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import type { Channel } from "./channel.ts";
import { decide, type NotifySettings } from "./decide.ts";
import { notifyMetrics } from "./metrics.ts";
import { observe, skipKey } from "./observe.ts";
import { perform } from "./perform.ts";
import type { Route } from "./route.ts";

export interface NotifierOptions {
  readonly client: KubeClient;
  readonly locks: Locks;
  readonly ledger: Ledger;
  readonly channels: readonly Channel[];
  readonly routes: readonly Route[];
  readonly settings: NotifySettings;
  /** The longest that one try on a channel may take. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface Notifier {
  /** Whether this is the process that delivers; of all replicas one does. */
  readonly isLeading: boolean;
  stop(): Promise<void>;
}

/** Delivers notices from now on until `stop`, in one process at a time. Any number of replicas may be started. */
export function startNotifier(options: NotifierOptions): Notifier {
  const { locks, clock, random, log } = options;
  const metrics = notifyMetrics(options.metrics);
  const stop = new AbortController();
  let isLeading = false;
  const work = async (_lease: unknown, signal: AbortSignal) => {
    isLeading = true;
    try {
      await deliverUntil(signal, options, metrics);
    } finally {
      isLeading = false;
    }
  };
  const failed = (error: unknown) => log.warn("notices are not delivered", { error });
  const purpose = "deliver notices";
  const led = leading(locks, keyOf("notify"), work, {
    clock,
    random,
    signal: stop.signal,
    purpose,
    events: { failed },
  });
  return {
    get isLeading() {
      return isLeading;
    },
    async stop() {
      stop.abort();
      await led;
    },
  };
}

async function deliverUntil(signal: AbortSignal, options: NotifierOptions, metrics: ReturnType<typeof notifyMetrics>) {
  const { client, clock, random, log } = options;
  const problem = (problem: Problem) => log.warn("notify problem", problem);
  const following = new AbortController();
  const notices = informer<NotificationRequest, "skips">({
    client,
    clock,
    random,
    problem,
    signal: following.signal,
    type: notificationRequests,
    indexes: { skips: skipKey },
  });
  const ownWrites = new OwnWrites();
  notices.subscribe((event, object) => event === "DELETED" && ownWrites.forget(object));
  const sight = {
    ...options,
    client: { ...client, update: noting(client, ownWrites) },
    notices,
    channelNames: options.channels.map(({ name }) => name),
  };
  const channels = new Map(options.channels.map((channel) => [channel.name, channel]));
  const hands = { ...options, sight, channels, metrics };
  const controller = new Controller({
    name: "notices",
    clock,
    random,
    problem,
    concurrency: 8,
    sources: [keysFrom(notices, ({ metadata }) => [`${metadata.namespace}/${metadata.name}`])],
    async reconcile(key, signal) {
      const [namespace = "", name = ""] = key.split("/");
      const notice = notices.get({ namespace, name });
      // Our own last write has not come back yet: acting on the older one would tell people twice.
      if (!notice || ownWrites.isOutdated(notice)) return undefined;
      const seen = observe(notice, sight);
      return perform(decide(seen), seen, hands, signal);
    },
  });
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await controller.stop({ deadlineMs: 1_000 });
  following.abort();
}

/** What we wrote is known before the watch brings it. */
function noting(client: KubeClient, ownWrites: OwnWrites): KubeClient["update"] {
  return async (type, object, call) => {
    const outcome = await client.update(type, object, call);
    if (outcome.kind === "updated") ownWrites.note(outcome.object);
    return outcome;
  };
}
