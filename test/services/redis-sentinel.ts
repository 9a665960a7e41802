import { setTimeout as wait } from "node:timers/promises";
import { type RedisService, startRedis } from "./redis.ts";

export interface RedisSentinels extends AsyncDisposable {
  readonly url: string;
  readonly sentinels: readonly RedisService[];
  /** The primary and its replicas, in no particular order. */
  readonly servers: readonly RedisService[];
  /** The one that the Sentinels call the primary now. */
  primary(): Promise<RedisService>;
  /** Resolves when the Sentinels agree that another one has taken over. */
  untilNot(former: RedisService): Promise<RedisService>;
  /** Makes a former primary that is back a replica of the new one, as Sentinels do too, but take their time for. */
  rejoin(former: RedisService): Promise<void>;
}

const name = "main";

/** One primary, two replicas and three Sentinels that need half a second to detect a missing server. */
export async function startSentinels(args: readonly string[] = []): Promise<RedisSentinels> {
  const first = await startRedis({ args });
  const replicaOf = ["--replicaof", "127.0.0.1", `${first.port}`];
  const replicas = await Promise.all([1, 2].map(() => startRedis({ args: [...replicaOf, ...args] })));
  const servers = [first, ...replicas];
  await untilLinked(replicas);
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(first.port)));
  await untilKnown(sentinels);

  async function primary(): Promise<RedisService> {
    for (const sentinel of sentinels) {
      const info = String(await sentinel.command("INFO", "sentinel").catch(() => ""));
      const port = Number(/address=[\d.]+:(\d+)/.exec(info)?.[1]);
      const found = servers.find((server) => server.port === port);
      if (found) return found;
    }
    throw new Error("no Sentinel answers");
  }

  async function untilNot(former: RedisService): Promise<RedisService> {
    while (true) {
      const now = await primary();
      const info = String(await now.command("INFO", "replication").catch(() => ""));
      if (now !== former && info.includes("role:master")) return now;
      await wait(50);
    }
  }

  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${name}`,
    sentinels,
    servers,
    primary,
    untilNot,
    async rejoin(former) {
      const { port } = await untilNot(former);
      // Sentinels that do the same at the same time cut all connections, ours too.
      await former.command("REPLICAOF", "127.0.0.1", `${port}`).catch(() => {});
      await untilLinked([former]);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...sentinels, ...servers].map((server) => server.stop()));
    },
  };
}

function startSentinel(primaryPort: number): Promise<RedisService> {
  const file = [
    `sentinel monitor ${name} 127.0.0.1 ${primaryPort} 2`,
    `sentinel down-after-milliseconds ${name} 500`,
    `sentinel failover-timeout ${name} 3000`,
    `sentinel parallel-syncs ${name} 2`,
  ];
  return startRedis({ file, args: ["--sentinel"] });
}

async function untilLinked(replicas: readonly RedisService[]): Promise<void> {
  for (const replica of replicas) {
    const readReplication = async () => String(await replica.command("INFO", "replication").catch(() => ""));
    while (!(await readReplication()).includes("master_link_status:up")) await wait(25);
  }
}

async function untilKnown(sentinels: readonly RedisService[]): Promise<void> {
  for (const sentinel of sentinels) {
    while (true) {
      const info = String(await sentinel.command("INFO", "sentinel"));
      if (/status=ok,.*slaves=2,sentinels=3/.test(info)) break;
      await wait(25);
    }
  }
}
