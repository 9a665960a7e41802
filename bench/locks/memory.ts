import { Mutex } from "async-mutex";
import { type Key, keyOf, type Locks, memoryLocks } from "../../src/coordination/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { machineMs } from "./machine-time.ts";

export interface MemoryPlan {
  readonly rounds: number;
  readonly pairs: number;
  /** async-mutex takes time in the square of the queue, so the whole 100,000 are for the full run. */
  readonly asyncMutexQueue: number;
}

export interface MemoryFigures {
  /** Median pairs per second for each contender, and for each round. */
  readonly pairsPerSecond: ReadonlyMap<string, readonly number[]>;
  /** µs per grant with a queue on one key; the name states the queue's length. */
  readonly queuedMicros: ReadonlyMap<string, number>;
  readonly interlockQueuedMicros: number;
  readonly promiseChainQueuedMicros: number;
}

export const memoryNames = {
  interlock: "interlock, per key",
  keyed: "async-mutex, per key",
  plain: "async-mutex, one lock",
  chain: "promise chain, one lock",
} as const;

/** E: locks inside one process. */
export async function memory({ rounds, pairs, asyncMutexQueue }: MemoryPlan): Promise<MemoryFigures> {
  const locks = memoryLocks({ clock: systemClock(), random: systemRandom() });
  const loops: Record<string, (pairs: number) => Promise<void>> = {
    [memoryNames.interlock]: (count) => interlockPairs(locks, count),
    [memoryNames.keyed]: keyedPairs,
    [memoryNames.plain]: plainPairs,
    [memoryNames.chain]: chainPairs,
  };
  const pairsPerSecond = new Map<string, number[]>(Object.keys(loops).map((name) => [name, []]));
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const [name, loop] of Object.entries(loops)) {
      const ms = await timed(() => loop(pairs));
      if (round >= 0) pairsPerSecond.get(name)?.push((1_000 * pairs) / ms);
    }
  }

  const interlockQueuedMicros = await bestOf(rounds, () => interlockQueue(locks, 100_000));
  const promiseChainQueuedMicros = await bestOf(rounds, () => chainQueue(100_000));
  const asyncMutexMicros = await microsEach(asyncMutexQueue, () => asyncMutexQueued(asyncMutexQueue));
  await locks.close();
  return {
    pairsPerSecond,
    interlockQueuedMicros,
    promiseChainQueuedMicros,
    queuedMicros: new Map([
      ["interlock, 100000 queued", interlockQueuedMicros],
      ["promise chain, 100000 queued", promiseChainQueuedMicros],
      [`async-mutex, ${asyncMutexQueue} queued`, asyncMutexMicros],
    ]),
  };
}

async function interlockPairs(locks: Locks, pairs: number) {
  for (let i = 0; i < pairs; i++) {
    const lease = await locks.acquire(keys[i % keys.length] as Key);
    await lease.release();
  }
}

/** What users of async-mutex write to lock by key without keeping every key they ever saw. */
async function keyedPairs(pairs: number) {
  const mutexes = new Map<Key, Mutex>();
  for (let i = 0; i < pairs; i++) {
    const key = keys[i % keys.length] as Key;
    let mutex = mutexes.get(key);
    if (!mutex) {
      mutex = new Mutex();
      mutexes.set(key, mutex);
    }
    const release = await mutex.acquire();
    release();
    if (!mutex.isLocked()) mutexes.delete(key);
  }
}

async function plainPairs(pairs: number) {
  const mutex = new Mutex();
  for (let i = 0; i < pairs; i++) {
    const release = await mutex.acquire();
    release();
  }
}

/** The limit: a lock that can do nothing but wait for the one before. */
async function chainPairs(pairs: number) {
  const chain = new PromiseChain();
  for (let i = 0; i < pairs; i++) {
    const release = await chain.acquire();
    release();
  }
}

class PromiseChain {
  #last: Promise<void> = Promise.resolve();

  acquire(): Promise<() => void> {
    const before = this.#last;
    let release = () => {};
    this.#last = new Promise((resolve) => {
      release = resolve;
    });
    return before.then(() => release);
  }
}

async function interlockQueue(locks: Locks, length: number) {
  const key = keyOf("bench", "queue");
  return microsEach(length, async () => {
    await inQueue(length, async () => {
      const lease = await locks.acquire(key);
      await lease.release();
    });
  });
}

async function chainQueue(length: number) {
  const chain = new PromiseChain();
  return microsEach(length, () => inQueue(length, async () => (await chain.acquire())()));
}

async function asyncMutexQueued(length: number) {
  const mutex = new Mutex();
  await inQueue(length, async () => (await mutex.acquire())());
}

/** All of them ask before the first is done, so the queue is `length` long when it begins to move. */
async function inQueue(length: number, pair: () => Promise<void>) {
  await Promise.all(Array.from({ length }, pair));
}

async function microsEach(count: number, work: () => Promise<void>): Promise<number> {
  return (1_000 * (await timed(work))) / count;
}

/** The round that was disturbed least: there is no neighbour to compare with. */
async function bestOf(rounds: number, measure: () => Promise<number>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) best = Math.min(best, await measure());
  return best;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = machineMs();
  await work();
  return machineMs() - start;
}

const warmUpRounds = 2;
const keys = Array.from({ length: 1_000 }, (_, i) => keyOf("bench", "memory", i));
