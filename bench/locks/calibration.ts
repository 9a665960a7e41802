import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { machineMs } from "./machine-time.ts";
import { median } from "./quantile.ts";

/** What this machine can do at best, to read the other figures by. */
export interface Calibration {
  /** A request and its answer, back to back. */
  readonly pingMicros: number;
  /** The same after 20 ms of silence, when every process has to be woken. */
  readonly pingAfterIdleMicros: number;
  /** From PUBLISH to the subscriber after 20 ms of silence: the floor for a hand-off. */
  readonly pushAfterIdleMicros: number;
}

export async function calibrate(url: string, samples: number): Promise<Calibration> {
  const redis = new Redis(url);
  const subscriber = new Redis(url);
  await subscriber.subscribe("calibration");
  for (let i = 0; i < 1_000; i++) await redis.ping();

  const figures = {
    pingMicros: await medianMicros(samples * 10, 0, () => redis.ping()),
    pingAfterIdleMicros: await medianMicros(samples, 20, () => redis.ping()),
    pushAfterIdleMicros: await medianMicros(samples, 20, async () => {
      const message = once(subscriber, "message");
      await Promise.all([message, redis.publish("calibration", "x")]);
    }),
  };
  redis.disconnect();
  subscriber.disconnect();
  return figures;
}

async function medianMicros(samples: number, idleMs: number, work: () => Promise<unknown>): Promise<number> {
  const micros: number[] = [];
  for (let i = 0; i < samples; i++) {
    if (idleMs > 0) await sleep(idleMs);
    const start = machineMs();
    await work();
    micros.push(1_000 * (machineMs() - start));
  }
  return median(micros);
}
