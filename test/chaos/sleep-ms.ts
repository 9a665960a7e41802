import { setTimeout as delay } from "node:timers/promises";

/** Real time: faults of real processes cannot be sped up. */
export function sleepMs(ms: number): Promise<void> {
  return delay(ms);
}
