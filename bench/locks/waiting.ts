import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { keyOf } from "../../src/coordination/index.ts";
import type { Contender, Entry } from "./contender.ts";
import { machineMs } from "./machine-time.ts";
import { watchRedis } from "./redis-load.ts";

export interface WaitingPlan {
  /** Connections that the 50 share. */
  readonly clients: number;
  /** How long they are watched. */
  readonly ms: number;
}

export interface Waiting {
  /** Those inside scripts included, and those the holder needs to keep the lock. */
  readonly commandsPerSecond: number;
  readonly clientMsPerSecond: number;
  readonly redisMsPerSecond: number;
  /** From the release until all have had their turn. */
  readonly drainMs: number;
}

const waiters = 50;

/** C: the cost of 50 callers that wait for a lock of another holder. */
export async function waiting(entry: Entry, url: string, { clients, ms }: WaitingPlan): Promise<Waiting> {
  const admin = new Redis(url);
  const holder = await entry.open(url);
  const opened = await Promise.all(Array.from({ length: clients }, () => entry.open(url)));
  const key = keyOf("waiting", entry.name);
  const held = await holder.acquire(key);
  const turns = Array.from({ length: waiters }, async (_, i) => {
    const turn = await (opened[i % clients] as Contender).acquire(key);
    await turn.release();
  });
  await sleep(300);

  const load = await watchRedis(admin, entry);
  const cpu = process.cpuUsage();
  await sleep(ms);
  const { user, system } = process.cpuUsage(cpu);
  const { commands, cpuMicros } = await load();

  const start = machineMs();
  await held.release();
  await Promise.all(turns);
  const drainMs = machineMs() - start;
  for (const contender of [holder, ...opened]) await contender.close();
  admin.disconnect();
  return {
    commandsPerSecond: (1_000 * commands) / ms,
    clientMsPerSecond: (user + system) / ms,
    redisMsPerSecond: cpuMicros / ms,
    drainMs,
  };
}
