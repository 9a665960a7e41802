import { keyOf, openWatermark, type Watermark, type WatermarkStore } from "../../coordination/index.ts";
import {
  Controller,
  type Informer,
  informer,
  type KubeClient,
  keysFrom,
  objectKey,
  problemLogger,
  type ResourceType,
  refOfKey,
} from "../../kube/index.ts";
import type { Signal } from "../../resources/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { type Clock, type Random, sleep } from "../../time/index.ts";
import { checkNode } from "./check-node.ts";
import { eventTime, toEventSignal, type WatchedEvent } from "./event-signal.ts";
import { toNodeSignals, type WatchedNode } from "./node-signals.ts";

interface FollowOptions {
  readonly client: KubeClient;
  /** Reasons of Events that become signals; most warnings end without an action. */
  readonly reasons: readonly string[];
  /** Admits a signal. If it throws, the signal is passed again. */
  readonly sink: (signal: Signal) => Promise<unknown>;
  /** Stores the Event up to which all are processed, across restarts and changes of the leader. */
  readonly watermarks: WatermarkStore;
  /** How far the watermark stays behind: Events have the time of their observer, and arrive later. */
  readonly overlapMs: number;
  /** The fence of the lock under which this process watches. */
  readonly fence: bigint;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** How often the watermark is stored. */
  readonly markEveryMs?: number;
}

const events: ResourceType<WatchedEvent> = { apiVersion: "v1", kind: "Event", plural: "events", namespaced: true };
const nodes: ResourceType<WatchedNode> = { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false };

/**
 * Passes warnings and the conditions of nodes to `sink` until `signal` aborts. Meant for one process at a time. An
 * Event is passed once for each time it happens, and after a restart only if it is newer than the watermark; a
 * condition is passed whenever it changes, and once at the start, because it may have changed while no process was
 * watching.
 */
export async function followKubernetes(options: FollowOptions): Promise<void> {
  const { client, clock, random, log, signal, markEveryMs = 10_000 } = options;
  const { watermarks, overlapMs, fence } = options;
  const mark = await openWatermark(watermarks, keyOf("kubernetes-events"), {
    from: "now",
    serverDate: new Date(client.serverNowMs()),
    overlapMs,
    fence,
  });
  const problem = problemLogger("kubernetes source problem", { log, clock });
  // It may end before `signal` aborts, and must leave no watch open then.
  const end = new AbortController();
  const follow = { client, clock, random, problem, signal: AbortSignal.any([signal, end.signal]) };
  const eventCache = informer({ ...follow, type: events });
  const nodeCache = informer({ ...follow, type: nodes });
  const eventSignals = new EventSignals(options, eventCache, mark.record.cursor.updatedAt);
  const processedConditions: ProcessedConditions = new Map();
  const controllers = [
    new Controller({
      ...follow,
      name: "events",
      sources: [keysFrom(eventCache, (event) => [objectKey(event)])],
      reconcile: (key) => eventSignals.process(key),
    }),
    new Controller({
      ...follow,
      name: "nodes",
      sources: [keysFrom(nodeCache, ({ metadata }) => [metadata.name ?? ""])],
      reconcile: (name) => processNode(name, nodeCache.get({ name }), { ...options, processed: processedConditions }),
    }),
  ];
  try {
    await Promise.all(controllers.map(({ ready }) => ready));
    await storeWatermark(mark, eventSignals, { ...options, markEveryMs });
  } finally {
    end.abort();
    await Promise.all(controllers.map((controller) => controller.stop({ deadlineMs: 1_000 })));
  }
}

/** Selects the Events that are signals, and notes which of them are processed. */
class EventSignals {
  readonly #options: FollowOptions;
  readonly #cache: Informer<WatchedEvent>;
  readonly #from: string;
  /**
   * By uid, the time for which an Event is processed. Holds the Events that the server still has: usually those of an
   * hour.
   */
  readonly #processed = new Map<string, string>();

  constructor(options: FollowOptions, cache: Informer<WatchedEvent>, from: string) {
    this.#options = options;
    this.#cache = cache;
    this.#from = from;
    cache.subscribe((change, { metadata }) => change === "DELETED" && this.#processed.delete(metadata.uid ?? ""));
  }

  async process(key: string): Promise<undefined> {
    const event = this.#cache.get(refOfKey(key));
    if (!event || !this.#isWaiting(event)) return;
    const time = eventTime(event);
    const reading = toEventSignal(event, time);
    const { client, sink } = this.#options;
    if (reading.kind === "signal") await sink(await checkNode(reading.signal, client));
    else this.#options.log.warn("event unreadable", { event: key, problems: reading.problems });
    this.#processed.set(event.metadata.uid ?? "", time);
  }

  /** All Events that are signals, and whether they are processed. */
  items() {
    const signals = this.#cache.list().filter((event) => this.#isSignal(event));
    // The next start passes only Events after the watermark, which must not be at the time of one that waits: many share a second.
    const waiting = new Set(signals.filter((event) => this.#isWaiting(event)).map(eventTime));
    return signals.map((event) => {
      const updatedAt = eventTime(event);
      return { id: event.metadata.uid ?? "", updatedAt, finished: !waiting.has(updatedAt) };
    });
  }

  #isWaiting(event: WatchedEvent): boolean {
    if (!this.#isSignal(event) || eventTime(event) <= this.#from) return false;
    return this.#processed.get(event.metadata.uid ?? "") !== eventTime(event);
  }

  #isSignal(event: WatchedEvent): boolean {
    return event.type === "Warning" && this.#options.reasons.includes(event.reason ?? "") && eventTime(event) !== "";
  }
}

/** By the name of each node that exists, the states of its conditions that were passed. */
type ProcessedConditions = Map<string, Map<string, string>>;

async function processNode(
  name: string,
  node: WatchedNode | undefined,
  { sink, client, processed }: FollowOptions & { readonly processed: ProcessedConditions },
): Promise<undefined> {
  const states = processed.get(name) ?? new Map<string, string>();
  if (node) processed.set(name, states);
  else processed.delete(name);
  for (const signal of node ? toNodeSignals(node, new Date(client.serverNowMs()).toISOString()) : []) {
    const state = `${signal.status} ${signal.firingAt}`;
    if (states.get(signal.series) === state) continue;
    await sink(signal);
    states.set(signal.series, state);
  }
}

async function storeWatermark(
  mark: Watermark,
  eventSignals: EventSignals,
  { clock, client, signal, log, markEveryMs }: FollowOptions & { readonly markEveryMs: number },
): Promise<void> {
  while (!signal.aborted) {
    await sleep(clock, markEveryMs, signal).catch(() => {});
    try {
      const outcome = await mark.advance(eventSignals.items(), new Date(client.serverNowMs()));
      // Another replica watches.
      if (outcome.kind === "stale") return;
    } catch (error) {
      log.warn("watermark update failed", { error });
    }
  }
}
