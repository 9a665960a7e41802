import { type Random, sleep } from "../../time/index.ts";
import { keyOf } from "../key.ts";
import type { Locks } from "../locks/locks.ts";
import { type JanitorEvents, LeaseSweep, type LeaseSweepOptions } from "./lease-sweep.ts";

export interface JanitorOptions extends Omit<LeaseSweepOptions, "idleMs"> {
  readonly random: Random;
  /** Of several processes with the same locks one sweeps at a time. This only saves work. */
  readonly locks: Locks;
  readonly events?: JanitorEvents;
}

/** Locks that were not used for this long are removed. */
const idleMs = 600_000;
/** The time between two sweeps, ±20 %. */
const everyMs = 300_000;

/** Removes unused Leases every few minutes until closed. Does not keep the process alive. */
export function startJanitor(options: JanitorOptions): { close(): Promise<void> } {
  const { client, clock, random, namespace, locks, events = {} } = options;
  const leaseSweep = new LeaseSweep({ client, clock, namespace, idleMs });
  const key = keyOf("janitor", namespace);
  const stop = new AbortController();

  async function work() {
    while (!stop.signal.aborted) {
      await sleep(clock, everyMs * (0.8 + 0.4 * random.fraction()), stop.signal, { background: true }).catch(() => {});
      if (!stop.signal.aborted) await sweep().catch((error) => stop.signal.aborted || events.failed?.(error));
    }
  }

  async function sweep() {
    await using lease = await locks.tryAcquire(key, { purpose: "removing idle leases" });
    if (!lease) return;
    events.swept?.(await leaseSweep.sweep(AbortSignal.any([stop.signal, lease.signal])));
  }

  const working = work();
  return {
    async close() {
      stop.abort();
      await working;
    },
  };
}
