import { setTimeout as wait } from "node:timers/promises";

/** Looks until there is something to see. Processes of their own cannot be waited for in another way. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  { withinMs = 30_000, signal }: { withinMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  const endsAt = performance.now() + withinMs;
  for (;;) {
    signal?.throwIfAborted();
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endsAt) throw new Error(`not within ${withinMs} ms: ${what}`);
    await wait(15);
  }
}
