import { hash } from "node:crypto";
import type { HttpClient, KubeClient } from "../../kube/index.ts";
import type { Clock, Random } from "../../time/index.ts";
import { type Access, reviewAccess } from "./access.ts";
import { ExpiringCache } from "./expiring-cache.ts";
import { bearerToken, type Identity, type NewSession, type OidcLogin, type Viewer } from "./identity.ts";
import { type ClusterUser, reviewToken, tokenExpiryMs } from "./review-token.ts";
import { readSession, signSession } from "./session.ts";

export interface ClusterIdentityOptions {
  /** Reviews tokens with the console's own rights. */
  readonly client: KubeClient;
  /** A client that acts as the user. */
  readonly clientAs: (user: ClusterUser) => HttpClient;
  /** The log-in at an identity provider; `begin` makes a session of a user whom the provider has authenticated. */
  readonly oidc?: ((begin: (user: ClusterUser) => Promise<NewSession | undefined>) => OidcLogin) | undefined;
  readonly incidentsIn: string;
  readonly sessionKey: string;
  readonly sessionMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

/** How long a withdrawn right or a revoked token is still accepted here. The API server checks every write again. */
const reviewTtlMs = 15_000;

/** A client keeps connections open, so it is reused. */
const clientTtlMs = 600_000;

/** Browsers drop a larger cookie. */
const maxSessionLength = 3_800;

/** Users of the API server. The console acts in their name, so the API server decides what they may do. */
export function clusterIdentity(options: ClusterIdentityOptions): Identity {
  const { client, clientAs, incidentsIn, sessionKey, sessionMs, clock, random } = options;
  const reviewed = new ExpiringCache<ClusterUser | undefined>(clock, reviewTtlMs);
  const clients = new ExpiringCache<HttpClient>(clock, clientTtlMs);
  const access = new ExpiringCache<Access>(clock, reviewTtlMs);
  // Only of this process: other replicas accept a session until it expires.
  const endedSessions = new ExpiringCache<true>(clock, sessionMs);

  async function toViewer(user: ClusterUser, via: Viewer["via"]): Promise<Viewer | undefined> {
    if (!canImpersonate(user)) return undefined;
    const key = JSON.stringify([user.name, user.groups]);
    const own = await clients.get(key, async () => clientAs(user));
    const { operations, readableKinds } = await access.get(key, () => reviewAccess(own, incidentsIn));
    const role = operations.length > 0 ? "operator" : "viewer";
    return { name: user.name, role, operations, readableKinds, via, client: own, podLogs: own.podLogs };
  }

  const findUser = (token: string) => reviewed.get(hash("sha256", token), () => reviewToken(client, token));

  async function beginSession(user: ClusterUser, endsAtMs = Number.POSITIVE_INFINITY): Promise<NewSession | undefined> {
    if (!canImpersonate(user)) return undefined;
    const expiresAtMs = Math.min(clock.wallMs() + sessionMs, endsAtMs);
    const claims = { id: random.id(), user: user.name, groups: user.groups, expiresAtMs };
    const value = signSession(claims, sessionKey);
    return value.length > maxSessionLength ? undefined : { value, expiresAtMs };
  }

  const oidc = options.oidc?.((user) => beginSession(user));
  return {
    mode: "cluster",
    async authenticate({ authorization, session }) {
      const token = bearerToken(authorization);
      if (token !== undefined) {
        const user = await findUser(token);
        return user && toViewer(user, "token");
      }
      const claims = session === undefined ? undefined : readSession(session, sessionKey, clock.wallMs());
      if (!claims || endedSessions.has(claims.id)) return undefined;
      return toViewer({ name: claims.user, groups: claims.groups ?? [] }, "session");
    },
    async logIn(token) {
      const user = await findUser(token);
      return user && beginSession(user, tokenExpiryMs(token));
    },
    async logOut(session) {
      const claims = readSession(session, sessionKey, clock.wallMs());
      if (claims) await endedSessions.get(claims.id, async () => true);
    },
    ...(oidc && { oidc }),
  };
}

/**
 * Whether the console acts in the name of a user. Never as the API server's own users and groups, such as `system:masters`,
 * before which no rule counts; but service accounts, and the groups that every user and service account is in.
 */
export function canImpersonate({ name, groups }: ClusterUser): boolean {
  const isUser = name !== "" && (!name.startsWith("system:") || name.startsWith("system:serviceaccount:"));
  const isGroup = (group: string) =>
    !group.startsWith("system:") ||
    group === "system:authenticated" ||
    group === "system:serviceaccounts" ||
    group.startsWith("system:serviceaccounts:");
  return isUser && groups.every(isGroup);
}
