import { setImmediate as turn } from "node:timers/promises";
import type { Key } from "../../src/coordination/key.ts";
import type { AcquireOptions, Lease, Locks } from "../../src/coordination/locks/locks.ts";
import type { Clock } from "../../src/time/index.ts";

/**
 * A naive in-memory lock: a mutex per key in a map of limited size, from which free mutexes are evicted.
 * Between a release and the moment its waiter runs, the mutex is free; a caller that arrives then creates a second one.
 */
export function seedMemoryLocks(clock: Clock, { maxKeys }: { readonly maxKeys: number }): Locks {
  const mutexes = new Map<Key, Mutex>();
  let fence = BigInt(Math.round(clock.wallMs())) * 1_000n;
  let held = 0;

  function mutexFor(key: Key): Mutex {
    const mutex = mutexes.get(key) ?? new Mutex();
    mutexes.delete(key);
    mutexes.set(key, mutex);
    for (const [other, { isLocked }] of mutexes) {
      if (mutexes.size > maxKeys && !isLocked && other !== key) mutexes.delete(other);
    }
    return mutex;
  }

  function leaseOf(key: Key, mutex: Mutex): Lease {
    held++;
    let released = false;
    return {
      key,
      fence: ++fence,
      holder: `seed.${fence}`,
      signal: new AbortController().signal,
      remainingMs: () => Number.POSITIVE_INFINITY,
      assertHeld() {},
      async release() {
        if (!released) mutex.unlock();
        if (!released) held--;
        released = true;
        return { released: true };
      },
      async [Symbol.asyncDispose]() {
        await this.release();
      },
    };
  }

  async function acquire(key: Key, _options?: AcquireOptions): Promise<Lease> {
    const mutex = mutexFor(key);
    await mutex.lock();
    return leaseOf(key, mutex);
  }

  return {
    guarantee: "process",
    acquire,
    async tryAcquire(key) {
      const mutex = mutexFor(key);
      if (mutex.isLocked || mutex.isWaitedFor) return undefined;
      await mutex.lock();
      return leaseOf(key, mutex);
    },
    async run(key, work) {
      await using lease = await acquire(key);
      return await work(lease);
    },
    load: () => ({ held, waiting: 0, oldestWaitMs: 0 }),
    close: async () => {},
  };
}

/** As asyncio's: a release wakes the first waiter, who has the lock when it runs, a turn of the event loop later. */
class Mutex {
  isLocked = false;
  readonly #waiters: (() => void)[] = [];

  get isWaitedFor(): boolean {
    return this.#waiters.length > 0;
  }

  async lock(): Promise<void> {
    if (this.isLocked || this.isWaitedFor) await new Promise<void>((wake) => this.#waiters.push(wake));
    this.isLocked = true;
  }

  unlock(): void {
    this.isLocked = false;
    const [first] = this.#waiters;
    if (!first) return;
    void turn().then(() => {
      this.#waiters.shift();
      first();
    });
  }
}
