import { keyOf, type Locks, runAsLeader } from "../coordination/index.ts";
import {
  Controller,
  type Informer,
  informer,
  type KeySource,
  type KubeClient,
  keysFrom,
  OwnWrites,
  objectKey,
  problemLogger,
  reconcile,
  reconcileCached,
  refOfKey,
  type Skipped,
} from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import {
  type NotificationRequest,
  notificationRequests,
  type RemediationRequest,
  remediationRequests,
} from "../resources/index.ts";
import { stallReporter } from "../stalls/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import type { Channel } from "./channel.ts";
import { decide, type NotifySettings } from "./decide.ts";
import { digestKey, incidentKeys, observe, observeFresh, toCachedIncident } from "./observe.ts";
import { notifyMetrics, perform } from "./perform.ts";
import type { Route } from "./route.ts";
import { SkipQueues } from "./skip-queues.ts";
import { isClosed } from "./thread.ts";

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
  /** Whether all notices and incidents are cached, so that this replica can take over at once. Followers are ready, too. */
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
  const { client, locks, clock, random, log } = options;
  const stopLeading = new AbortController();
  const stopWatching = new AbortController();
  const problem = problemLogger("notify problem", { log, clock });
  const watch = { client, clock, random, problem, signal: stopWatching.signal };
  const notices = informer<NotificationRequest, "incident">({
    ...watch,
    type: notificationRequests,
    indexes: { incident: incidentKeys },
  });
  const incidents = options.channels.some(({ style }) => style !== "notices")
    ? informer<RemediationRequest>({ ...watch, type: remediationRequests, transform: toCachedIncident })
    : undefined;
  const reporter = stallReporter({ ...options, stage: "notify" });
  const find = (key: string) => notices.get(refOfKey(key));
  const stalls = reporter.watch({ type: notificationRequests, noun: "notice", find });
  const ownWrites = new OwnWrites();
  const skips = new SkipQueues(notices, digestKey);
  const caches = { ...options, notices, incidents, skips, client: ownWrites.track(client, [notices]) };
  const channels = new Map(options.channels.map((channel) => [channel.name, channel]));
  const deps = { ...options, caches, channels, metrics: notifyMetrics(options.metrics) };

  const oneAtATime = oneNoticePerIncident();
  const reconcileNotice = (notice: NotificationRequest, signal: AbortSignal) =>
    oneAtATime(notice, () =>
      reconcile(observe(notice, caches), {
        decide,
        perform: (action, snapshot) => perform(action, snapshot, deps, signal),
        observeAgain: () => observeFresh(notice, caches, signal),
      }),
    );

  let isLeading = false;
  async function deliver(_lease: unknown, signal: AbortSignal) {
    isLeading = true;
    try {
      const controller = new Controller({
        ...{ name: "notices", clock, random, problem, concurrency: 8, stalls },
        sources: [keysFrom(notices, (notice) => [objectKey(notice)]), ...closedIncidentKeys(incidents, notices)],
        reconcile: (key, signal) =>
          // Acting on a version older than our own last write would deliver twice.
          reconcileCached(find(key), ownWrites, (notice) => reconcileNotice(notice, signal)),
      });
      await waitForAbort(signal);
      await controller.stop({ deadlineMs: 1_000 });
    } finally {
      isLeading = false;
    }
  }

  const leading = runAsLeader(locks, keyOf("notify"), deliver, {
    clock,
    random,
    signal: stopLeading.signal,
    purpose: "deliver notices",
    events: { failed: (error) => log.warn("notice delivery interrupted", { error }) },
  });
  const ready = Promise.all([notices.synced, incidents?.synced]).then(() => {});
  // Callers need not await it, and an unhandled rejection would end the process.
  ready.catch(() => {});
  return {
    ready,
    get isReady() {
      return notices.hasSynced && (incidents?.hasSynced ?? true);
    },
    get isLeading() {
      return isLeading;
    },
    get problem() {
      return reporter.problem;
    },
    async stop() {
      stopLeading.abort();
      await leading;
      await reporter.stop();
      stopWatching.abort();
    },
  };
}

async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

/** The notices of an incident are reconciled when it is closed: its threads have to be resolved. */
function closedIncidentKeys(
  incidents: Informer<RemediationRequest> | undefined,
  notices: Informer<NotificationRequest, "incident">,
): readonly KeySource[] {
  if (!incidents) return [];
  const listKeys = (incident: RemediationRequest) =>
    isClosed(incident) ? notices.byIndex("incident", incident.metadata.uid ?? "").map(objectKey) : [];
  return [keysFrom(incidents, listKeys)];
}

const busyWaitMs = 100;

/**
 * Returns a function that does work on one notice of an incident at a time: two at once would both open its thread. The work is
 * skipped while another notice of the incident is being processed.
 */
function oneNoticePerIncident() {
  const busy = new Set<string>();
  return async (
    notice: NotificationRequest,
    work: () => Promise<number | undefined>,
  ): Promise<number | undefined | Skipped> => {
    const [incident] = incidentKeys(notice);
    if (incident === undefined) return await work();
    if (busy.has(incident)) return { kind: "skipped", inMs: busyWaitMs };
    busy.add(incident);
    try {
      return await work();
    } finally {
      busy.delete(incident);
    }
  };
}
