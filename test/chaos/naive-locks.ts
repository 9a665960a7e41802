import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import {
  CoordinationError,
  type Key,
  type Lease,
  type Locks,
  type ReleaseOutcome,
} from "../../src/coordination/index.ts";
import { sleepMs } from "./sleep-ms.ts";

export interface NaiveLocksOptions {
  /** With a fence, an end, and a look at whose lock it is before it is deleted. */
  readonly careful: boolean;
}

/** Locks as they are commonly made with Redis: polled, never renewed, trusted from the moment the answer comes. */
export function naiveLocks(url: string, { careful }: NaiveLocksOptions): Locks {
  const redis = new Redis(url);
  redis.on("error", () => {});

  async function acquire(key: Key, { ttlMs = 0, signal }: { ttlMs?: number; signal?: AbortSignal } = {}) {
    const holder = randomUUID();
    while (true) {
      const fence = Number(await redis.eval(setIfFree, 2, nameOf(key), "naive-fence", holder, ttlMs).catch(closed));
      if (fence > 0 && !careful) return new NaiveLease(redis, key, { holder, fence: 0n, endsAt: Infinity });
      if (fence > 0)
        return new NaiveLease(redis, key, { holder, fence: BigInt(fence), endsAt: performance.now() + ttlMs });
      if (signal?.aborted) throw new CoordinationError("aborted", `${key}: the caller left`);
      await sleepMs(10);
    }
  }

  return {
    guarantee: "single",
    acquire,
    tryAcquire: unused,
    run: unused,
    load: unused,
    close: async () => redis.disconnect(),
  };
}

const setIfFree = `
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
return redis.call('INCR', KEYS[2])`;
const deleteOwn = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

class NaiveLease implements Lease {
  readonly key: Key;
  readonly holder: string;
  readonly fence: bigint;
  readonly signal = new AbortController().signal;
  readonly #redis: Redis;
  readonly #endsAt: number;

  constructor(redis: Redis, key: Key, terms: { holder: string; fence: bigint; endsAt: number }) {
    this.#redis = redis;
    this.key = key;
    this.holder = terms.holder;
    this.fence = terms.fence;
    this.#endsAt = terms.endsAt;
  }

  remainingMs(): number {
    return Math.min(1e9, this.#endsAt - performance.now());
  }

  assertHeld(): void {
    if (this.remainingMs() <= 0) throw new CoordinationError("lost", `${this.key}: the lease ended`);
  }

  async release(): Promise<ReleaseOutcome> {
    const careful = this.#endsAt !== Infinity;
    const deleted = careful
      ? this.#redis.eval(deleteOwn, 1, nameOf(this.key), this.holder)
      : this.#redis.del(nameOf(this.key));
    return deleted.then(
      (count) => (careful && count === 0 ? { released: false, reason: "lost" } : { released: true }),
      () => ({ released: false, reason: "unknown" }),
    );
  }

  async [Symbol.asyncDispose]() {
    await this.release();
  }
}

function nameOf(key: Key): string {
  return `naive:${key}`;
}

function closed(cause: unknown): never {
  throw new CoordinationError("closed", "the lock client is closed", { cause });
}

function unused(): never {
  throw new TypeError("the workers only acquire");
}
