import { CoordinationError, type Lease, type Locks } from "../../src/coordination/index.ts";
import { naiveLocks } from "./naive-locks.ts";

/**
 * Mistakes that locks are made with, so that the checker can be seen to notice them. Ours with something broken:
 * - `no-deadline`: the holder trusts its last renewal, and ignores the clock
 * - `always-released`: `release` always returns `released`
 * - `leaky-abort`: the caller that stops waiting is let go, its bid is not
 *
 * Others, as they are found in the wild:
 * - `naive`: SET NX PX and DEL, as in a thousand blog posts: no fence, no end, and it is not asked whose lock it is
 * - `late-deadline`: all of that done right, but the lease is counted from when the answer came
 */
export type Defect = "no-deadline" | "always-released" | "leaky-abort" | "naive" | "late-deadline";

/** Locks with `defect` at `url`; `open` makes those that have none. */
export async function defectiveLocks(defect: Defect, url: string, open: () => Promise<Locks>): Promise<Locks> {
  switch (defect) {
    case "no-deadline":
      return withLeases(await open(), blind);
    case "always-released":
      return withLeases(await open(), agreeable);
    case "leaky-abort":
      return leaky(await open());
    case "naive":
      return naiveLocks(url, { careful: false });
    case "late-deadline":
      return naiveLocks(url, { careful: true });
  }
}

function withLeases(locks: Locks, change: (lease: Lease) => Partial<Lease>): Locks {
  return {
    ...through(locks),
    async acquire(key, options) {
      const lease = await locks.acquire(key, options);
      return { ...copyOf(lease), ...change(lease) };
    },
  };
}

function through(locks: Locks): Locks {
  return {
    guarantee: locks.guarantee,
    tryAcquire: (key, options) => locks.tryAcquire(key, options),
    acquire: (key, options) => locks.acquire(key, options),
    run: (key, work, options) => locks.run(key, work, options),
    load: () => locks.load(),
    close: () => locks.close(),
  };
}

function copyOf(lease: Lease): Lease {
  return {
    key: lease.key,
    fence: lease.fence,
    holder: lease.holder,
    signal: lease.signal,
    remainingMs: () => lease.remainingMs(),
    assertHeld: (minMs) => lease.assertHeld(minMs),
    release: () => lease.release(),
    [Symbol.asyncDispose]: () => lease[Symbol.asyncDispose](),
  };
}

function blind(): Partial<Lease> {
  return { signal: new AbortController().signal, remainingMs: () => 1e9, assertHeld() {} };
}

function agreeable(lease: Lease): Partial<Lease> {
  return {
    async release() {
      await lease.release();
      return { released: true };
    },
  };
}

function leaky(locks: Locks): Locks {
  return {
    ...through(locks),
    acquire(key, { signal, ...options } = {}) {
      return new Promise((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(new CoordinationError("aborted", `${key}: the caller left`)));
        locks.acquire(key, options).then(resolve, reject);
      });
    },
  };
}
