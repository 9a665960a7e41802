import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { type Key, keyHash, keyOf } from "../../src/coordination/key.ts";
import type { Ability, LockBench } from "../../src/coordination/locks/locks.contract.ts";
import type { Locks } from "../../src/coordination/locks/locks.ts";
import { RedisConnection } from "../../src/coordination/redis/connection.ts";
import { redisLocks } from "../../src/coordination/redis/redis-locks.ts";
import { type Random, systemRandom } from "../../src/time/index.ts";
import { ProcessClock } from "../doubles/process-clock.ts";
import { StoppableClock } from "../doubles/stoppable-clock.ts";
import type { startRedis } from "../services/redis.ts";
import { startTcpProxy, type TcpProxy } from "../services/tcp-proxy.ts";

export const redisAbilities: readonly Ability[] = ["processes", "network", "records", "cohort", "batching"];

/** Long enough for a busy machine to renew in time, short enough to wait for. */
const ttlMs = 1_500;
const timeoutMs = 3_000;

interface RedisProcess {
  readonly clock: ProcessClock;
  readonly connection: RedisConnection;
  readonly proxy: TcpProxy;
  readonly wire: { requests: number; underway: number; losesNext: boolean };
}

/** Locks in a real Redis on real time, each client behind a proxy that fails the way networks do. */
export async function redisLockBench(server: Awaited<ReturnType<typeof startRedis>>): Promise<LockBench> {
  const prefix = `${systemRandom().id()}:`;
  const base = new StoppableClock();
  const processes = new Map<Locks, RedisProcess>();
  const of = (client: Locks) => processes.get(client) as RedisProcess;
  const nameOf = (key: Key) => `${prefix}{${keyHash(key)}}`;

  return {
    abilities: redisAbilities,
    guarantee: "single",
    ttlMs,
    timeoutMs,
    manyKeys: 5_000,
    async client({ skewMs = 0, events = {} } = {}) {
      const clock = new ProcessClock(base, { skewMs });
      const proxy = await startTcpProxy(server.port);
      const connection = new RedisConnection({
        url: `redis://127.0.0.1:${proxy.port}`,
        clock,
        random: evenRandom(),
        commandTimeoutMs: timeoutMs,
      });
      const wire = tap(connection, proxy);
      const locks = redisLocks({
        connection,
        prefix,
        clock,
        random: evenRandom(),
        who: `test/pod/${processes.size + 1}`,
        events,
        defaults: { ttlMs, waitMs: 3_600_000 },
      });
      await connection.connect();
      processes.set(locks, { clock, connection, proxy, wire });
      return locks;
    },
    wallMs: () => base.wallMs(),
    advance: (ms) => wait(ms),
    settle: () => turn(),
    async quiet() {
      do await turn();
      while ([...processes.values()].some(({ wire }) => wire.underway > 0));
    },
    pause: (client) => of(client).clock.pause(),
    resume: (client) => of(client).clock.resume(),
    vanish(client) {
      of(client).proxy.become({ mode: "black-hole" });
      of(client).clock.crash();
    },
    sever: (client) => of(client).proxy.become({ mode: "black-hole" }),
    async refuse(client) {
      const { proxy, connection } = of(client);
      proxy.become({ mode: "cut" });
      while (connection.isUp) await turn();
    },
    slowReplies: (client, ms) => of(client).proxy.become({ mode: "hold-replies", ms }),
    loseNextReply(client) {
      of(client).wire.losesNext = true;
    },
    deafen() {
      throw new TypeError("pushes and replies share one connection");
    },
    heal: (client) => of(client).proxy.become({ mode: "pass" }),
    requests: (client) => of(client).wire.requests,
    async holderOf(key) {
      const value = (await server.command("GET", nameOf(key))) as string | undefined;
      return value?.split("|")[0];
    },
    async deleteStored(key) {
      await server.command("DEL", nameOf(key));
    },
    async occupy(key) {
      const value = `x.1|1|1|${keyOf("somebody", "else")}|test/pod/9|`;
      await server.command("SET", nameOf(key), value, "PX", "60000");
    },
    damage() {
      throw new TypeError("Redis itself knows how long a key lasts");
    },
    forbid() {
      throw new TypeError("this Redis allows everything");
    },
    async close() {
      base.stop();
      for (const { connection, proxy } of processes.values()) {
        await connection.close();
        await proxy.close();
      }
    },
  };
}

/** Counts the calls of a connection, and breaks it off right after one was answered, before the caller gets the response. */
function tap(connection: RedisConnection, proxy: TcpProxy): RedisProcess["wire"] {
  const wire = { requests: 0, underway: 0, losesNext: false };
  const run: RedisConnection["run"] = (...call) => {
    wire.underway++;
    return RedisConnection.prototype.run.apply(connection, call).finally(() => wire.underway--);
  };
  connection.run = async (...call) => {
    wire.requests++;
    if (!wire.losesNext) return run(...call);
    wire.losesNext = false;
    await run(...call);
    proxy.become({ mode: "cut" });
    while (connection.isUp) await turn();
    proxy.become({ mode: "pass" });
    throw new Error("connection reset");
  };
  return wire;
}

/** No jitter, so that a reconnection takes the same time in each run. */
function evenRandom(): Random {
  return { ...systemRandom(), fraction: () => 0.5 };
}
