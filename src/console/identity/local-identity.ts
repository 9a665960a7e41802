import { hash, timingSafeEqual } from "node:crypto";
import type { KubeClient } from "../../kube/index.ts";
import { type OperationName, operationNames } from "../../operate/index.ts";
import type { Clock, Random } from "../../time/index.ts";
import { type Role, rowKinds } from "../wire.ts";
import { bearerToken, type Identity, type NewSession, type Viewer } from "./identity.ts";
import type { LocalUser, LocalUsers } from "./local-users.ts";
import type { LoginLinks } from "./login-links.ts";
import { readSession, signSession } from "./session.ts";

export interface LocalIdentityOptions {
  readonly users: LocalUsers;
  readonly links: LoginLinks;
  readonly sessionKey: string;
  readonly sessionMs: number;
  /** The name of the user whose token the embedded API server accepts. */
  readonly admin: string;
  readonly adminToken: string;
  /** Of the embedded API server, which trusts this process. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
}

/** Local users with roles, for the embedded API server. */
export function localIdentity(options: LocalIdentityOptions): Identity {
  const { users, links, sessionKey, sessionMs, admin, client, clock, random } = options;

  const viewer = ({ name, role }: LocalUser, via: Viewer["via"]): Viewer => ({
    name,
    role,
    operations: roleOperations(role),
    readableKinds: rowKinds,
    via,
    client,
  });

  async function bySession(value: string): Promise<Viewer | undefined> {
    const claims = readSession(value, sessionKey, clock.wallMs());
    if (!claims || (await users.hasEnded(claims.id))) return undefined;
    const user = await users.find(claims.user);
    return user && user.account === claims.account ? viewer(user, "session") : undefined;
  }

  async function byToken(token: string): Promise<Viewer | undefined> {
    const user = isEqual(token, options.adminToken) ? await users.find(admin) : undefined;
    return user && viewer(user, "token");
  }

  async function beginSession(name: string): Promise<NewSession | undefined> {
    const user = await users.find(name);
    if (!user) return undefined;
    const expiresAtMs = clock.wallMs() + sessionMs;
    const claims = { id: random.id(), user: user.name, account: user.account, expiresAtMs };
    return { value: signSession(claims, sessionKey), expiresAtMs };
  }

  return {
    mode: "embedded",
    authenticate: async ({ authorization, session }) => {
      const token = bearerToken(authorization);
      if (token !== undefined) return byToken(token);
      return session === undefined ? undefined : bySession(session);
    },
    logIn: async (token) => ((await byToken(token)) ? beginSession(admin) : undefined),
    logOut: async (session) => {
      const claims = readSession(session, sessionKey, clock.wallMs());
      if (claims) await users.endSession({ id: claims.id, expiresAtMs: claims.expiresAtMs });
    },
    redeemLink: async (token) => {
      const user = await links.redeem(token);
      return user === undefined ? undefined : beginSession(user);
    },
  };
}

/** A viewer changes nothing. An admin can also manage users, which is done at the command line. */
function roleOperations(role: Role): readonly OperationName[] {
  return role === "viewer" ? [] : operationNames;
}

/** Compares hashes, so that the duration reveals nothing about the token. */
function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(hash("sha256", one, "buffer"), hash("sha256", other, "buffer"));
}
