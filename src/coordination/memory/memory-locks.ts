import type { LockStore, Terms } from "../locks/lock-store.ts";
import { type LockTableOptions, locksOver } from "../locks/lock-table.ts";
import type { Locks } from "../locks/locks.ts";

/**
 * Locks among the callers of one process. They hold exactly the live keys: no size limit, nothing is ever evicted.
 * A restart forgets them, and other processes do not see them. A holder cannot crash without the process, so a lease
 * never expires; only `maxHoldMs` ends the lease of work that hangs.
 */
export function memoryLocks(options: LockTableOptions): Locks {
  return locksOver(memoryLockStore(options), options);
}

/** The table already excludes the callers of one process, so the store only counts fences. */
function memoryLockStore({ clock }: LockTableOptions): LockStore {
  const forever = { deadline: Number.POSITIVE_INFINITY, periodMs: Number.POSITIVE_INFINITY };
  const released = Promise.resolve({ released: true } as const);
  // Seeded from the wall clock so that a restarted process does not begin below fences it has given out before.
  let fence = BigInt(Math.round(clock.wallMs())) * 1_000n;

  function grantNow(): Terms {
    fence += 1n;
    return { fence, fences: 1, ...forever };
  }
  return {
    guarantee: "process",
    grantNow,
    ask: (bid) => bid.granted(grantNow()),
    withdraw() {},
    renew: async () => ({ kind: "ok", ...forever }),
    release: () => released,
    close: async () => {},
  };
}
