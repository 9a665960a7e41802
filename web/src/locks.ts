import type { Lock, TargetRow } from "../../src/console/wire.ts";

/** A lock of a replica, or a target that an execution holds. */
export interface HeldLock extends Lock {
  /** The execution that holds a target: NAMESPACE/NAME. */
  readonly execution?: string;
}

/** A held target is locked for every other execution. */
export function toHeldLock({ target, holder, fence, heldSince, waiting }: TargetRow): HeldLock {
  return {
    key: target,
    waiters: waiting,
    ...(holder !== undefined && { holder, execution: holder }),
    ...(fence !== undefined && { fence }),
    ...(heldSince !== undefined && { since: heldSince }),
  };
}

/** The locks that have all words of `search`: those with waiters first, then those held longest. */
export function orderLocks(locks: readonly HeldLock[], search: string): readonly HeldLock[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return locks
    .filter(({ key, holder = "" }) => {
      const text = `${key}\n${holder}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => b.waiters - a.waiters || heldSince(a) - heldSince(b) || (a.key < b.key ? -1 : 1));
}

/** A lock that is not held comes last. */
function heldSince({ since }: Lock): number {
  return since === undefined ? Number.MAX_VALUE : Date.parse(since);
}
