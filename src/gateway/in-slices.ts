import { type Clock, sleep } from "../time/index.ts";

/** Number of repeated signals per slice: small enough that one slice takes a few milliseconds. */
const sliceSize = 64;

/**
 * Calls `work` with slices of `items`, in order and one at a time, and lets other requests have the process in between:
 * thousands of signals in one request must neither block the others nor have all their work in memory at once.
 */
export async function sliceSignals<T>(
  items: readonly T[],
  clock: Clock,
  work: (slice: readonly T[]) => Promise<unknown>,
  size = sliceSize,
): Promise<void> {
  for (let at = 0; at < items.length; at += size) {
    if (at > 0) await sleep(clock, 0);
    await work(items.length <= size ? items : items.slice(at, at + size));
  }
}
