import type { Lock } from "../../src/console/wire.ts";

/** The locks that have all words of `search`: those with waiters first, then those held longest. */
export function orderLocks(locks: readonly Lock[], search: string): readonly Lock[] {
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
