import { errorMessage, type KubeClient, KubeError, type ListQuery } from "../../kube/index.ts";
import type { Clock } from "../../time/index.ts";

/** Failures for a shorter time are retries that work. */
const failingAfterMs = 30_000;

/** Informers retry at least this often: an older error is over, although nothing was received since. */
const retriedWithinMs = 60_000;

/**
 * Servers send a bookmark about once a minute, unless etcd reports no progress and nothing changes. Then an informer opens the
 * watch again every 90 seconds, which proves that it has received everything up to the previous opening.
 */
const silentAfterMs = 240_000;

/** A request without a response fails sooner. */
const acceptedAfterMs = 60_000;

export interface WatchHealth {
  /** The same client, whose watches are observed. */
  readonly client: KubeClient;
  /** The watches that fail, or receive nothing, one sentence each. */
  problems(): readonly string[];
}

/** Observes the watches of a client: without it, a cache that is no longer updated looks like one without changes. */
export function watchHealth(client: KubeClient, clock: Clock): WatchHealth {
  const states = new Map<string, WatchState>();
  const now = () => clock.now();
  function stateOf(key: string): WatchState {
    const state = states.get(key) ?? newState(now());
    states.set(key, state);
    return state;
  }
  return {
    client: {
      ...client,
      // An informer whose list fails never starts its watch.
      list: async (type, query, call) => {
        const key = `list of ${describeQuery(type.plural, query ?? {})}`;
        try {
          const items = await client.list(type, query, call);
          // No state is kept for lists that succeed, because their selectors are unbounded.
          states.delete(key);
          return items;
        } catch (error) {
          noteFailure(stateOf(key), error, now());
          throw error;
        }
      },
      watch: (type, query, call) => {
        const state = stateOf(`watch of ${describeQuery(type.plural, query)}`);
        return observeStream(client.watch(type, query, call), state, now);
      },
    },
    problems() {
      const problems: string[] = [];
      for (const [key, state] of states) {
        const problem = describeWatch(state, now());
        if (problem !== undefined) problems.push(`${key}: ${problem}`);
        else if (isUnused(state, now())) states.delete(key);
      }
      return problems;
    },
  };
}

/** A list or watch of one kind, across its repetitions. */
export interface WatchState {
  /** Number of streams that are open. */
  open: number;
  /** When the last stream ended. */
  endedAt: number;
  heardAt: number;
  failure: { readonly message: string; readonly since: number; readonly at: number } | undefined;
}

/** Returns the problem of a watch; undefined if there is none. */
export function describeWatch(state: WatchState, now: number): string | undefined {
  const { heardAt, failure } = state;
  if (failure && now - failure.at <= retriedWithinMs && now - failure.since >= failingAfterMs) {
    return `failing for ${Math.round((now - failure.since) / 1_000)} s: ${failure.message}`;
  }
  if (!isUnused(state, now) && now - heardAt >= silentAfterMs)
    return `nothing received for ${Math.round((now - heardAt) / 1_000)} s`;
  return undefined;
}

function isUnused({ open, endedAt, failure }: WatchState, now: number): boolean {
  return open === 0 && now - Math.max(endedAt, failure?.at ?? 0) > retriedWithinMs;
}

function newState(now: number): WatchState {
  return { open: 0, endedAt: now, heardAt: now, failure: undefined };
}

async function* observeStream<T>(stream: AsyncIterable<T>, state: WatchState, now: () => number): AsyncIterable<T> {
  // A watch that was not in use for a while has not been silent.
  if (isUnused(state, now())) state.heardAt = now();
  state.open++;
  const openedAt = now();
  try {
    for await (const event of stream) {
      state.heardAt = now();
      state.failure = undefined;
      yield event;
    }
  } catch (error) {
    noteFailure(state, error, now());
    throw error;
  } finally {
    state.open--;
    state.endedAt = now();
    // The server would have sent every change until then at once.
    if (now() - openedAt >= acceptedAfterMs) state.heardAt = Math.max(state.heardAt, openedAt);
  }
}

/** An outdated version and an abort are part of normal work. */
function noteFailure(state: WatchState, error: unknown, at: number): void {
  if (error instanceof KubeError && (error.code === "gone" || error.code === "aborted")) return;
  const { failure } = state;
  const since = failure && at - failure.at <= retriedWithinMs ? failure.since : at;
  state.failure = { message: errorMessage(error), since, at };
}

function describeQuery(plural: string, { namespace, labelSelector, fieldSelector }: ListQuery): string {
  const selectors = [labelSelector, fieldSelector].filter((selector) => selector !== undefined).join(",");
  return [plural, namespace && `in ${namespace}`, selectors && `(${selectors})`].filter(Boolean).join(" ");
}
