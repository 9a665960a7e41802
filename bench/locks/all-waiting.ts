import type { Entry } from "./contender.ts";
import { interlockDefaults } from "./interlock.ts";
import { startCarefulRedis } from "./redis-server.ts";
import type { Waiting } from "./waiting.ts";
import type { WorkerProcess } from "./workers.ts";

export const waitingNames = { oneClient: "interlock, one process", fiftyClients: "interlock, 50 processes" } as const;

/**
 * Ours, with the 50 in one process and with each as good as a process of its own. Watched for long, because we look
 * around only every few seconds; on servers of their own, so that other things can be measured meanwhile.
 */
export async function ourWaiting(workers: readonly WorkerProcess[], ms: number): Promise<Map<string, Waiting>> {
  const cases = [
    { name: waitingNames.oneClient, clients: 1 },
    { name: waitingNames.fiftyClients, clients: 50 },
  ];
  const results = cases.map(async ({ name, clients }, i) => {
    const redis = await startCarefulRedis();
    try {
      const plan = { clients, ms };
      return [name, await waitingIn(workers[i] as WorkerProcess, interlockDefaults, redis.url, plan)] as const;
    } finally {
      await redis.stop();
    }
  });
  return new Map(await Promise.all(results));
}

/** Peers one after the other, their 50 in one process. */
export async function peersWaiting(
  worker: WorkerProcess,
  peers: readonly Entry[],
  url: string,
  ms: number,
): Promise<Map<string, Waiting>> {
  const results = new Map<string, Waiting>();
  for (const peer of peers) results.set(peer.name, await waitingIn(worker, peer, url, { clients: 1, ms }));
  return results;
}

async function waitingIn(worker: WorkerProcess, entry: Entry, url: string, plan: { clients: number; ms: number }) {
  const answer = await worker.ask({ do: "wait", contender: entry.name, url, plan }, "waited");
  return answer.waiting;
}
