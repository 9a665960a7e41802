import { listLocks } from "../../coordination/index.ts";
import type { Lock } from "../wire.ts";
import type { ReadContext } from "./read-context.ts";

/** Every lock with a holder or waiters, those with the most waiters first. Locks in Redis are not listed. */
export async function readLocks({
  client,
  locksIn,
}: Pick<ReadContext, "client" | "locksIn">): Promise<readonly Lock[]> {
  const locks = await listLocks(client, locksIn);
  return locks
    .map(({ sinceMs, expiresAtMs, ...lock }) => ({
      ...lock,
      ...(sinceMs === undefined ? {} : { since: new Date(sinceMs).toISOString() }),
      ...(expiresAtMs === undefined ? {} : { expiresAt: new Date(expiresAtMs).toISOString() }),
    }))
    .sort((one, other) => other.waiters - one.waiters || (one.key < other.key ? -1 : 1));
}
