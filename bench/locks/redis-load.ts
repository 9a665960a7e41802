import type { Redis } from "ioredis";
import type { Entry } from "./contender.ts";

/** What Redis did between two looks. */
export interface RedisLoad {
  readonly cpuMicros: number;
  /** All commands, those inside scripts included. */
  readonly commands: number;
  /** Commands that came over the wire. */
  readonly requests: number;
}

/** Starts to count; the function returned measures what `entry` made Redis do since then. */
export async function watchRedis(admin: Redis, entry: Pick<Entry, "sends">): Promise<() => Promise<RedisLoad>> {
  const before = await look(admin);
  return async () => {
    const after = await look(admin);
    let commands = 0;
    let requests = 0;
    for (const [name, calls] of after.calls) {
      const delta = calls - (before.calls.get(name) ?? 0);
      commands += delta;
      if (entry.sends.includes(name)) requests += delta;
    }
    return { cpuMicros: after.cpuMicros - before.cpuMicros, commands, requests };
  };
}

async function look(admin: Redis) {
  const cpu = await admin.info("cpu");
  const stats = await admin.info("commandstats");
  const calls = new Map<string, number>();
  for (const [, name = "", count] of stats.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)) {
    // Our own looks are not the load.
    if (name !== "info") calls.set(name, Number(count));
  }
  return { cpuMicros: 1e6 * (seconds(cpu, "sys") + seconds(cpu, "user")), calls };
}

function seconds(cpu: string, kind: "sys" | "user"): number {
  return Number(new RegExp(`used_cpu_${kind}:([\\d.]+)`).exec(cpu)?.[1]);
}
