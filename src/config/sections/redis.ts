import { count, file, redisUrl, secret, text } from "../kinds.ts";
import type { Secret } from "../secret.ts";
import { optional, setting } from "../setting.ts";

export const redis = {
  url: optional<Secret>({
    kind: redisUrl(),
    env: "REDIS_URL",
    about:
      "The Redis to use when a backend is `redis`: one server, or the primary that Sentinels or the nodes of a Cluster name.",
  }),
  sentinelPassword: optional<Secret>({
    kind: secret("the password of the Sentinels"),
    env: "REDIS_SENTINEL_PASSWORD",
    about: "What Sentinels ask for, if they do; the password in the URL is that of the servers.",
  }),
  caFile: optional<string>({
    kind: file(),
    env: "REDIS_CA_FILE",
    about: "Certificates to trust with `rediss://`, in PEM, instead of those of the system.",
  }),
  host: optional<string>({
    kind: text("a host name"),
    env: "REDIS_HOST",
    about: "A Redis of Azure, reached with TLS and an identity of Microsoft Entra ID. It wins over `redis.url`.",
  }),
  port: setting({
    kind: count({ atMost: 65_535 }),
    default: "6380",
    env: "REDIS_PORT",
    about: "The port of `redis.host`.",
  }),
};
