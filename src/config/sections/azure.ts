import { file, httpUrl, secret, text } from "../kinds.ts";
import type { Secret } from "../secret.ts";
import { optional } from "../setting.ts";

export const azure = {
  clientId: optional<string>({
    kind: text("the client id of an identity"),
    env: "AZURE_CLIENT_ID",
    about: "The identity to use for `redis.host`; unless set, the one of the machine.",
  }),
  tenantId: optional<string>({
    kind: text("the id of a tenant"),
    env: "AZURE_TENANT_ID",
    about: "The tenant of a workload identity. Azure sets this and the next two in its pods.",
  }),
  federatedTokenFile: optional<string>({
    kind: file(),
    env: "AZURE_FEDERATED_TOKEN_FILE",
    about: "The cluster's token, which is exchanged for one of the tenant.",
  }),
  authorityHost: optional<string>({
    kind: httpUrl(),
    env: "AZURE_AUTHORITY_HOST",
    about: "Where it is exchanged, if not at Microsoft's public address.",
  }),
  identityEndpoint: optional<string>({
    kind: httpUrl(),
    env: "IDENTITY_ENDPOINT",
    about: "Where a managed identity is asked for. Azure sets this and the next in its container apps.",
  }),
  identityHeader: optional<Secret>({
    kind: secret("what the endpoint wants to hear"),
    env: "IDENTITY_HEADER",
    about: "What that endpoint wants to hear.",
  }),
};
