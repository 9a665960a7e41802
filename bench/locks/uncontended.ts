import type { Redis } from "ioredis";
import { type Key, keyOf } from "../../src/coordination/index.ts";
import type { Contender, Entry } from "./contender.ts";
import { machineMs } from "./machine-time.ts";
import { median, quantile } from "./quantile.ts";
import { watchRedis } from "./redis-load.ts";

export interface UncontendedPlan {
  readonly rounds: number;
  /** For each contender in each round: with one pair in flight, then with 64. */
  readonly ms1: number;
  readonly ms64: number;
}

/** One contender in one round. */
export interface Uncontended {
  readonly p50Micros: number;
  readonly p99Micros: number;
  readonly pairsPerSecond: number;
  readonly clientMicros: number;
  readonly redisMicros: number;
  readonly commands: number;
}

/** A1 and A2: acquire and release of keys that are free. Contenders take turns, each round in another order. */
export async function uncontended(
  entries: readonly Entry[],
  { url, admin }: { readonly url: string; readonly admin: Redis },
  plan: UncontendedPlan,
): Promise<Map<string, Uncontended[]>> {
  const results = new Map<string, Uncontended[]>(entries.map(({ name }) => [name, []]));
  const opened = await Promise.all(entries.map(async (entry) => ({ entry, contender: await entry.open(url) })));
  for (const { contender } of opened) await warmUp(contender);

  for (let round = 0; round < plan.rounds; round++) {
    for (let i = 0; i < opened.length; i++) {
      const { entry, contender } = opened[(i + round) % opened.length] as (typeof opened)[number];
      const latencies = await oneInFlight(contender, plan.ms1);
      const load = await watchRedis(admin, entry);
      const { pairs, pairsPerSecond, clientMicros } = await manyInFlight(contender, plan.ms64);
      const { cpuMicros, commands } = await load();
      results.get(entry.name)?.push({
        p50Micros: 1_000 * median(latencies),
        p99Micros: 1_000 * quantile(latencies, 0.99),
        pairsPerSecond,
        clientMicros,
        redisMicros: cpuMicros / pairs,
        commands: commands / pairs,
      });
    }
  }
  for (const { contender } of opened) await contender.close();
  return results;
}

/** The same contender, but each key is seen for the first time: nothing about it can be remembered. */
export function withNewKeys(entry: Entry): Entry {
  return {
    ...entry,
    name: `${entry.name}, new keys`,
    async open(url) {
      const contender = await entry.open(url);
      let count = 0;
      return { ...contender, acquire: (key) => contender.acquire(`${key}:${count++}` as Key) };
    },
  };
}

/** Until the compiler has seen enough: with one pair in flight alone that takes seconds. */
async function warmUp(contender: Contender) {
  await manyInFlight(contender, 300);
  await oneInFlight(contender, 200);
}

async function oneInFlight(contender: Contender, ms: number): Promise<number[]> {
  const latencies: number[] = [];
  const until = machineMs() + ms;
  for (let start = machineMs(); start < until; start = machineMs()) {
    const held = await contender.acquire(keys[latencies.length % keys.length] as Key);
    await held.release();
    latencies.push(machineMs() - start);
  }
  return latencies;
}

async function manyInFlight(contender: Contender, ms: number) {
  const cpu = process.cpuUsage();
  const start = machineMs();
  const loops = Array.from({ length: width }, (_, loop) => pairsUntil(contender, loop * keysPerLoop, start + ms));
  let pairs = 0;
  for (const count of await Promise.all(loops)) pairs += count;
  const { user, system } = process.cpuUsage(cpu);
  return { pairs, pairsPerSecond: (1_000 * pairs) / (machineMs() - start), clientMicros: (user + system) / pairs };
}

/** Each loop has keys of its own, so that none is ever waited for. */
async function pairsUntil(contender: Contender, firstKey: number, until: number): Promise<number> {
  let pairs = 0;
  // Many pairs between two looks at the clock, which would otherwise be a part of what is measured.
  while (machineMs() < until) {
    for (let i = 0; i < keysPerLoop; i++) {
      const held = await contender.acquire(keys[firstKey + i] as Key);
      await held.release();
    }
    pairs += keysPerLoop;
  }
  return pairs;
}

const width = 64;
const keysPerLoop = 16;
const keys = Array.from({ length: width * keysPerLoop }, (_, i) => keyOf("bench", "uncontended", i));
