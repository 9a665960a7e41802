import type { Redis } from "ioredis";
import type { Entry } from "./contender.ts";
import { machineMs } from "./machine-time.ts";
import { median, quantile } from "./quantile.ts";
import { watchRedis } from "./redis-load.ts";
import { inOrder, type Turn, turnsFrom, violations } from "./turns.ts";
import { openEverywhere, type WorkerProcess } from "./workers.ts";

export interface SaturationPlan {
  readonly rounds: number;
  readonly msPerRound: number;
}

/** One contender in one round. */
export interface Saturation {
  readonly grantsPerSecond: number;
  readonly medianWaitMs: number;
  readonly p99WaitMs: number;
  readonly longestWaitMs: number;
  readonly clientMicros: number;
  readonly redisMicros: number;
  readonly commands: number;
  readonly violations: number;
}

const loops = 25;
/** Before the queue is as long as it gets, nothing is counted. */
const warmUpMs = 200;

/** B2: all workers want one key, in 25 loops each, as fast as they can. */
export async function saturation(
  workers: readonly WorkerProcess[],
  entries: readonly Entry[],
  { url, admin }: { readonly url: string; readonly admin: Redis },
  { rounds, msPerRound }: SaturationPlan,
): Promise<Map<string, Saturation[]>> {
  const results = new Map<string, Saturation[]>(entries.map(({ name }) => [name, []]));
  for (const { name } of entries) await openEverywhere(workers, name, url);
  for (let round = 0; round < rounds; round++) {
    for (const entry of entries) {
      results.get(entry.name)?.push(await oneRound(workers, entry, admin, msPerRound));
    }
  }
  return results;
}

async function oneRound(workers: readonly WorkerProcess[], entry: Entry, admin: Redis, ms: number) {
  const load = await watchRedis(admin, entry);
  const startAt = machineMs() + 50;
  const request = { do: "saturate", contender: entry.name, loops, startAt, ms: warmUpMs + ms } as const;
  const answers = await Promise.all(workers.map((worker) => worker.ask(request, "turns")));
  const { cpuMicros: redisMicros, commands } = await load();

  let clientMicros = 0;
  const turns: Turn[] = [];
  for (const answer of answers) {
    clientMicros += answer.cpuMicros;
    for (const turn of turnsFrom(answer.turns)) turns.push(turn);
  }
  return {
    ...pace(turns, startAt + warmUpMs, startAt + warmUpMs + ms),
    clientMicros: clientMicros / turns.length,
    redisMicros: redisMicros / turns.length,
    commands: commands / turns.length,
    violations: violations(inOrder(turns)),
  };
}

function pace(turns: readonly Turn[], from: number, until: number) {
  const counted = turns.filter(({ gotAt }) => gotAt >= from && gotAt < until);
  const waits = Float64Array.from(counted, ({ askedAt, gotAt }) => gotAt - askedAt);
  return {
    grantsPerSecond: (1_000 * counted.length) / (until - from),
    medianWaitMs: median(waits),
    p99WaitMs: quantile(waits, 0.99),
    longestWaitMs: quantile(waits, 1),
  };
}
