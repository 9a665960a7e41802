import { keyOf, type Locks, runAsLeader } from "../coordination/index.ts";
import {
  Controller,
  type Informer,
  informer,
  type KubeClient,
  keysFrom,
  OwnWrites,
  objectKey,
  type Problem,
  reconcile,
  reconcileCached,
  refOfKey,
  type StallWatch,
} from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { type NotificationRequest, notificationRequests } from "../resources/index.ts";
import { stallReporter } from "../stalls/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import type { Channel } from "./channel.ts";
import { decide, type NotifySettings } from "./decide.ts";
import { notifyMetrics } from "./metrics.ts";
import { digestKey, observe } from "./observe.ts";
import { perform } from "./perform.ts";
import type { Route } from "./route.ts";
import { SkipQueues } from "./skip-queues.ts";

export interface NotifierOptions {
  readonly client: KubeClient;
  readonly locks: Locks;
  readonly ledger: Ledger;
  readonly channels: readonly Channel[];
  readonly routes: readonly Route[];
  readonly settings: NotifySettings;
  /** The maximum time of one attempt on a channel. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface Notifier {
  /** Whether all notices are cached, so that this replica can take over at once. Followers are ready, too. */
  readonly isReady: boolean;
  readonly ready: Promise<void>;
  /** Whether this replica delivers; one of all replicas does. */
  readonly isLeading: boolean;
  /** Why stalled notices cannot be reported as such; undefined while they can. */
  readonly problem: string | undefined;
  stop(): Promise<void>;
}

/** Delivers notices until `stop`, in one process at a time. Any number of replicas may run. */
export function startNotifier(options: NotifierOptions): Notifier {
  const { locks, client, clock, random, log } = options;
  const metrics = notifyMetrics(options.metrics);
  const stop = new AbortController();
  const following = new AbortController();
  const problem = (problem: Problem) => log.warn("notify problem", problem);
  const notices = informer<NotificationRequest>({
    client,
    clock,
    random,
    problem,
    signal: following.signal,
    type: notificationRequests,
  });
  const reporter = stallReporter({ ...options, stage: "notify" });
  const find = (key: string) => notices.get(refOfKey(key));
  const stalls = reporter.watch({ type: notificationRequests, noun: "notice", find });
  const ownWrites = new OwnWrites();
  const skips = new SkipQueues(notices, digestKey);
  const caches = { notices, skips, ownWrites, client: ownWrites.track(client, [notices]) };
  let isLeading = false;
  const work = async (_lease: unknown, signal: AbortSignal) => {
    isLeading = true;
    try {
      await deliverUntil(signal, { ...options, ...caches, problem, stalls }, metrics);
    } finally {
      isLeading = false;
    }
  };
  const failed = (error: unknown) => log.warn("notice delivery interrupted", { error });
  const purpose = "deliver notices";
  const led = runAsLeader(locks, keyOf("notify"), work, {
    clock,
    random,
    signal: stop.signal,
    purpose,
    events: { failed },
  });
  return {
    ready: notices.synced,
    get isReady() {
      return notices.hasSynced;
    },
    get isLeading() {
      return isLeading;
    },
    get problem() {
      return reporter.problem;
    },
    async stop() {
      stop.abort();
      await led;
      await reporter.stop();
      following.abort();
    },
  };
}

interface Following {
  readonly notices: Informer<NotificationRequest>;
  readonly skips: SkipQueues;
  readonly ownWrites: OwnWrites;
  readonly problem: (problem: Problem) => void;
  readonly stalls: StallWatch;
}

async function deliverUntil(
  signal: AbortSignal,
  options: NotifierOptions & Following,
  metrics: ReturnType<typeof notifyMetrics>,
) {
  const { client, clock, random, notices, ownWrites, problem, stalls } = options;
  const caches = {
    ...options,
    channelNames: options.channels.map(({ name }) => name),
  };
  const channels = new Map(options.channels.map((channel) => [channel.name, channel]));
  const deps = { ...options, caches, channels, metrics };
  const controller = new Controller({
    name: "notices",
    clock,
    random,
    problem,
    concurrency: 8,
    sources: [keysFrom(notices, (notice) => [objectKey(notice)])],
    stalls,
    reconcile: (key, signal) =>
      // Acting on a version older than our own last write would deliver twice.
      reconcileCached(notices.get(refOfKey(key)), ownWrites, (notice) =>
        reconcile(observe(notice, caches), {
          decide,
          perform: (action, snapshot) => perform(action, snapshot, deps, signal),
          async observeAgain() {
            const fresh = await client.get(notificationRequests, refOfKey(key), { signal });
            const isSame = fresh?.metadata.uid === notice.metadata.uid;
            return fresh && isSame ? observe(fresh, caches, { isFresh: true }) : undefined;
          },
        }),
      ),
  });
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await controller.stop({ deadlineMs: 1_000 });
}
