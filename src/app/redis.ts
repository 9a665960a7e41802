import { readFile } from "node:fs/promises";
import type { Config, LoadedConfig } from "../config/index.ts";
import { type CredentialSource, entraCredentials, RedisConnection, type Stage } from "../coordination/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";

export interface RedisParts {
  readonly loaded: Pick<LoadedConfig, "config">;
  readonly stage: Stage;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Opens the configured connection. It does not connect yet: locks, claims and watermarks register their preparations first. */
export async function openRedis({ loaded, clock, random, log, stage }: RedisParts): Promise<RedisConnection> {
  const { redis } = loaded.config;
  const connection = new RedisConnection({
    url: urlIn(loaded.config),
    ca: redis.caFile && (await readFile(redis.caFile, "utf8")),
    sentinelPassword: redis.sentinelPassword?.reveal(),
    credentials: credentialsIn(loaded.config, clock),
    clock,
    random,
    name: `interlock-${stage}`,
    onProblem: (message) => log.warn("redis connection", { message }),
  });
  connection.use({
    up: () => log.info("redis connected"),
    down: () => log.warn("redis disconnected"),
    prepare: async () => {
      for (const sentence of await connection.explain()) log.warn("redis guarantee", { explanation: sentence });
    },
  });
  return connection;
}

function urlIn({ redis }: Config): string {
  if (redis.host) return `rediss://${redis.host.includes(":") ? `[${redis.host}]` : redis.host}:${redis.port}`;
  const url = redis.url?.reveal();
  if (!url) throw new TypeError("redis.url is not set, although the configuration was accepted without it");
  return url;
}

function credentialsIn({ redis, azure }: Config, clock: Clock): CredentialSource | undefined {
  if (!redis.host) return undefined;
  return entraCredentials({ ...azure, identityHeader: azure.identityHeader?.reveal(), clock });
}
