import type { Clock } from "../../time/index.ts";
import { bearerToken, type Identity } from "../identity/identity.ts";
import type { Session } from "../wire.ts";
import { type ApiRoute, ProblemError } from "./api-route.ts";
import type { CookieJar } from "./cookies.ts";

export interface SessionRouteOptions {
  readonly identity: Identity;
  readonly cookies: CookieJar;
  readonly version: string;
  readonly clock: Clock;
}

/** Who calls, and the log-in and log-out of browsers. */
export function sessionRoutes({ identity, cookies, version, clock }: SessionRouteOptions): readonly ApiRoute[] {
  const path = "/api/v1/session";
  return [
    {
      method: "GET",
      path,
      summary: "The caller, and the operations that the caller may perform.",
      access: "viewer",
      result: "Session",
      handle: async ({ viewer: { name, role, operations, readableKinds } }): Promise<Session> => ({
        user: name,
        role,
        operations,
        kinds: readableKinds,
        version,
        mode: identity.mode,
        serverTime: new Date(clock.wallMs()).toISOString(),
      }),
    },
    {
      method: "POST",
      path,
      summary: "Begin a session with the bearer token of the request. The response sets a cookie.",
      access: "viewer",
      async handle({ request, reply }) {
        const token = bearerToken(request.headers.authorization);
        const session = token === undefined ? undefined : await identity.logIn(token);
        if (!session) throw new ProblemError(400, "Send a token to begin a session: Authorization: Bearer TOKEN.");
        cookies.setSession(reply, session.value, session.expiresAtMs);
        return {};
      },
    },
    {
      method: "DELETE",
      path,
      summary: "End the session.",
      access: "viewer",
      async handle({ request, reply }) {
        const session = cookies.readSession(request);
        if (session !== undefined) await identity.logOut(session);
        cookies.clearSession(reply);
        return {};
      },
    },
  ];
}
