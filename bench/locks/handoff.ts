import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { Entry } from "./contender.ts";
import { machineMs } from "./machine-time.ts";
import { watchRedis } from "./redis-load.ts";
import { inOrder, overtakes, type Turn, turnsFrom, violations } from "./turns.ts";
import type { Request } from "./worker-messages.ts";
import { openEverywhere, type WorkerProcess } from "./workers.ts";

export interface HandOffPlan {
  readonly rounds: number;
  /** A round ends after this many hand-offs or this long, whichever comes first. */
  readonly maxPerRound: number;
  readonly msPerRound: number;
}

/** One contender in one round. */
export interface HandOffs {
  /** From the call of `release` in one process to the end of `acquire` in another. */
  readonly latenciesMs: readonly number[];
  /** The share of grants that overtook an earlier waiter. */
  readonly overtakes: number;
  readonly longestWaitMs: number;
  readonly commandsPerGrant: number;
  readonly requestsPerGrant: number;
  readonly violations: number;
}

const shortestHoldMs = 15;
const longestHoldMs = 25;

/**
 * B1: each worker is a process. One holds the lock for about 20 ms while the others wait; who released it asks again
 * only after the next has got it. Contenders take turns, round by round.
 */
export async function handOffs(
  workers: readonly WorkerProcess[],
  entries: readonly Entry[],
  { url, admin }: { readonly url: string; readonly admin: Redis },
  plan: HandOffPlan,
): Promise<Map<string, HandOffs[]>> {
  const results = new Map<string, HandOffs[]>(entries.map(({ name }) => [name, []]));
  for (const { name } of entries) await openEverywhere(workers, name, url);
  for (let round = 0; round < plan.rounds; round++) {
    for (const entry of entries) results.get(entry.name)?.push(await oneRound(workers, entry, admin, plan));
  }
  return results;
}

async function oneRound(
  workers: readonly WorkerProcess[],
  entry: Entry,
  admin: Redis,
  { maxPerRound, msPerRound }: HandOffPlan,
): Promise<HandOffs> {
  const load = await watchRedis(admin, entry);
  const grants = await circulate(workers, entry.name, maxPerRound, machineMs() + msPerRound);
  const { commands, requests } = await load();
  const turns = inOrder((await Promise.all(workers.map(finish))).flat());
  return {
    latenciesMs: latencies(turns),
    overtakes: overtakes(turns),
    longestWaitMs: Math.max(...turns.map(({ askedAt, gotAt }) => gotAt - askedAt)),
    commandsPerGrant: commands / grants,
    requestsPerGrant: requests / grants,
    violations: violations(turns),
  };
}

/** Lets the lock go round; resolves with the number of grants. */
async function circulate(workers: readonly WorkerProcess[], contender: string, most: number, until: number) {
  let grants = 0;
  let holder: WorkerProcess | undefined;
  const enough = new Promise<void>((resolve) => {
    for (const worker of workers) {
      worker.acquired = () => {
        const previous = holder;
        holder = worker;
        if (grants >= most || machineMs() > until) return resolve();
        grants++;
        previous?.send(turn(contender));
      };
    }
  });
  for (const worker of workers) {
    worker.send(turn(contender));
    // So that there is no doubt who came first.
    await sleep(10);
  }
  await enough;
  return grants;
}

/** Held for a random time: a poll that fits a fixed one would always come just in time, or always too late. */
function turn(contender: string): Request {
  const holdMs = shortestHoldMs + (longestHoldMs - shortestHoldMs) * Math.random();
  return { do: "take-turn", contender, holdMs };
}

async function finish(worker: WorkerProcess): Promise<Turn[]> {
  const { turns } = await worker.ask({ do: "finish-turns" }, "turns");
  return turnsFrom(turns);
}

function latencies(turns: readonly Turn[]): number[] {
  const found: number[] = [];
  // The first hand-off still warms up; at the end, when the round is over, no worker holds the lock any more.
  for (let i = 2; i < turns.length; i++) {
    const { gotAt, leftAt } = turns[i - 1] as Turn;
    if (leftAt - gotAt >= shortestHoldMs - 1) found.push((turns[i] as Turn).gotAt - leftAt);
  }
  return found;
}
