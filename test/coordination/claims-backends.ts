import { claimsOver } from "../../src/coordination/claims/claim-client.ts";
import type { ClaimStore } from "../../src/coordination/claims/claim-store.ts";
import { keyHash, keyName } from "../../src/coordination/key.ts";
import { kubernetesClaimStore } from "../../src/coordination/kubernetes/kubernetes-claims.ts";
import { MemoryClaimStore } from "../../src/coordination/memory/memory-claims.ts";
import { RedisConnection } from "../../src/coordination/redis/connection.ts";
import { redisClaimStore } from "../../src/coordination/redis/redis-claims.ts";
import { leases } from "../../src/kube/index.ts";
import { sleep, systemClock, systemRandom } from "../../src/time/index.ts";
import { ManualClock, settle } from "../doubles/manual-clock.ts";
import { testCluster } from "../doubles/test-cluster.ts";
import type { RedisService } from "../services/redis.ts";
import type { ClaimsBackend, ProcessSetup } from "./claim-world.ts";

const random = systemRandom();

/** Processes that share one store in memory. No two real processes can, but the rules are the same. */
export async function memoryBackend(): Promise<ClaimsBackend> {
  const clock = new ManualClock();
  const store = new MemoryClaimStore({ clock });
  return {
    ...inManualTime(clock),
    connect: ({ through, ...setup }) => claimsOver(through(shared(store)), { ...setup, random }),
    async forget(key) {
      // Only its holder can, in memory: as if it had let go without knowing.
      const holder = await store.claim({ key, holder: "", who: "", leaseMs: 500, payloadHash: undefined });
      if (holder.state !== "in-flight" || !holder.holder) return;
      const bid = { key, holder: holder.holder.id, who: "", leaseMs: 500, payloadHash: undefined };
      const standing = await store.claim(bid);
      if (standing.state === "new") await standing.grant.settle({ kind: "retry", afterMs: 0 });
    },
    stop: () => store.close(),
  };
}

export async function kubernetesBackend(): Promise<ClaimsBackend> {
  const clock = new ManualClock();
  const namespace = "interlock";
  const cluster = testCluster({ clock, random, namespaces: [namespace] });
  return {
    ...inManualTime(clock),
    connect: ({ through, ...setup }) =>
      claimsOver(through(kubernetesClaimStore({ client: cluster.client(), clock: setup.clock, namespace })), {
        ...setup,
        random,
      }),
    async forget(key) {
      await cluster.client().delete(leases, { namespace, name: `claim-${keyName(key)}` });
    },
    stop: async () => {},
  };
}

/** Real time, so the lease is short; a prefix of its own keeps each case apart. */
export async function redisBackend(server: RedisService): Promise<ClaimsBackend> {
  const clock = systemClock();
  const prefix = `${random.id()}:`;
  const connections: RedisConnection[] = [];
  async function connect({ through, ...setup }: ProcessSetup) {
    const connection = new RedisConnection({ url: server.url, clock: systemClock(), random });
    await connection.connect();
    connections.push(connection);
    return claimsOver(through(redisClaimStore({ connection, clock: setup.clock, prefix })), { ...setup, random });
  }
  return {
    clock,
    // Real time: a stalled process of a busy machine must not outlast it.
    leaseMs: 2_000,
    pass: (ms) => sleep(clock, ms),
    connect,
    async forget(key) {
      await server.command("DEL", `${prefix}c:${keyHash(key)}`);
    },
    async stop() {
      for (const connection of connections) await connection.close();
    },
  };
}

export function inManualTime(clock: ManualClock) {
  return {
    clock,
    leaseMs: 1_000,
    async pass(ms: number) {
      await clock.advance(ms);
      await settle();
    },
  };
}

/** A store that outlives the processes that close it. */
export function shared(store: ClaimStore): ClaimStore {
  return { guarantee: store.guarantee, claim: (bid) => store.claim(bid), close: async () => {} };
}
