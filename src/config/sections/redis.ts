import { count, file, secret, text } from "../kinds.ts";
import { optional, setting } from "../setting.ts";
import { httpUrl, redisUrl } from "../url-kinds.ts";

export const redis = {
  url: optional(redisUrl(), {
    env: "REDIS_URL",
    about:
      "The Redis to use when a backend is `redis`: one server, or the primary that Sentinels or the nodes of a Cluster name.",
  }),
  sentinelPassword: optional(secret("the password of the Sentinels"), {
    env: "REDIS_SENTINEL_PASSWORD",
    about: "The password of the Sentinels, if they need one; the password in the URL is that of the servers.",
  }),
  caFile: optional(file(), {
    env: "REDIS_CA_FILE",
    about: "Certificates to trust with `rediss://`, in PEM, instead of those of the system.",
  }),
  host: optional(text("a host name"), {
    env: "REDIS_HOST",
    about: "A Redis of Azure, reached with TLS and an identity of Microsoft Entra ID. It wins over `redis.url`.",
  }),
  port: setting(count({ max: 65_535 }), { default: "6380", env: "REDIS_PORT", about: "The port of `redis.host`." }),
};

export const azure = {
  clientId: optional(text("the client id of an identity"), {
    env: "AZURE_CLIENT_ID",
    about: "The identity to use for `redis.host`; unless set, the one of the machine.",
  }),
  tenantId: optional(text("the id of a tenant"), {
    env: "AZURE_TENANT_ID",
    about: "The tenant of a workload identity. Azure sets this and the next two in its pods.",
  }),
  federatedTokenFile: optional(file(), {
    env: "AZURE_FEDERATED_TOKEN_FILE",
    about: "The cluster's token, which is exchanged for one of the tenant.",
  }),
  authorityHost: optional(httpUrl(), {
    env: "AZURE_AUTHORITY_HOST",
    about: "Where the cluster's token is exchanged, if not at Microsoft's public address.",
  }),
  identityEndpoint: optional(httpUrl(), {
    env: "IDENTITY_ENDPOINT",
    about: "The endpoint that issues tokens of a managed identity. Azure sets this and the next in its container apps.",
  }),
  identityHeader: optional(secret("the secret header of the endpoint"), {
    env: "IDENTITY_HEADER",
    about: "The secret header that `IDENTITY_ENDPOINT` requires.",
  }),
};
