import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ApiRoute } from "../../../src/console/http/api-route.ts";
import { sendEvents } from "../../../src/console/http/event-stream.ts";
import { operationRoutes } from "../../../src/console/http/operation-routes.ts";
import { readRoutes } from "../../../src/console/http/read-routes.ts";
import { type ConsoleServer, serveConsole } from "../../../src/console/http/server.ts";
import { canImpersonate, clusterIdentity } from "../../../src/console/identity/cluster-identity.ts";
import { oidcLogin, userFrom } from "../../../src/console/identity/oidc-login.ts";
import type { ReadContext } from "../../../src/console/read/read-context.ts";
import type { IncidentRow } from "../../../src/console/wire.ts";
import { actAs, httpClient, type KubeClient, namespaces } from "../../../src/kube/index.ts";
import { automationPauses, builtInKinds, installCrds } from "../../../src/resources/index.ts";
import { type Clock, sleep, systemClock, systemRandom } from "../../../src/time/index.ts";
import { serverUnderTest, tokens } from "../../conformance/server-under-test.ts";
import { recordingLogger } from "../../doubles/recording-logger.ts";
import { TestCli } from "../../doubles/test-cli.ts";
import { OidcServer } from "../../services/oidc-server.ts";
import { type TokenReviewServer, tokenReviewServer } from "../../services/token-review-server.ts";
import { cookieIn } from "./console-under-test.ts";

/** The embedded server lets the first write and the second read; it gives no right to any other user. */
const users = {
  "token-of-the-operator": { username: "interlock-admin", groups: ["sre", "system:authenticated"] },
  "token-of-the-reader": { username: "interlock-reader", groups: ["system:authenticated"] },
  "token-of-a-former-reader": { username: "interlock-reader", groups: ["system:authenticated"] },
  "token-of-kim": { username: "kim", groups: ["system:authenticated"] },
  "token-of-a-master": { username: "root", groups: ["system:masters"] },
};
const sessionKey = "a key that is long enough for tests, and for nothing else";
const secret = "secret-of-the-client";

let api: Awaited<ReturnType<typeof serverUnderTest>>;
let cluster: TokenReviewServer;
let provider: OidcServer;
let server: ConsoleServer;
const log = recordingLogger();

beforeAll(async () => {
  api = await serverUnderTest();
  cluster = await tokenReviewServer(api.url, users);
  const [real, random] = [systemClock(), systemRandom()];
  // Every answer of the API server is forgotten at once, so that tests do not depend on one another.
  let reads = 0;
  const now = () => {
    reads++;
    return real.now() + reads * 20_000;
  };
  const clock: Clock = { ...real, now, wallMs: () => real.wallMs() };
  const connection = { url: cluster.url, credentials: { token: tokens.admin } };
  const client = httpClient({ connection, clock: real, random });
  await installCrds(client);
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "kubernaut-system" } });
  provider = await OidcServer.start(() => ({
    id: "interlock",
    secret,
    redirectUrl: `${server.url}/login/oidc/callback`,
  }));
  const identity = clusterIdentity({
    ...{ client, sessionKey, random, clock },
    clientAs: ({ name, groups }) =>
      httpClient({ connection: actAs(connection, { user: name, groups }), clock: real, random }),
    incidentsIn: "kubernaut-system",
    sessionMs: 3_600_000,
    oidc: (beginSession) => ({
      start: () => login(beginSession).start(),
      finish: (callback, pending) => login(beginSession).finish(callback, pending),
    }),
  });
  const login = (beginSession: Parameters<typeof oidcLogin>[0]["beginSession"]) =>
    oidcLogin({
      ...{
        issuer: provider.url,
        clientId: "interlock",
        clientSecret: secret,
        scopes: ["openid", "email"],
        beginSession,
      },
      claims: { username: "email", groups: "groups", groupsPrefix: "oidc:" },
      redirectUrl: `${server.url}/login/oidc/callback`,
      ...{ key: sessionKey, clock: real, log },
    });
  server = await serveConsole({
    ...{ identity, log, version: "1.2.3", hosts: [], files: new Map(), clock },
    routes: [...operationRoutes((one) => new TestCli(one)), ...readRoutes((one) => readContext(one)), endlessEvents],
    listen: { host: "127.0.0.1", port: 0 },
  });
});

beforeEach(() => {
  cluster.forwarded.length = 0;
  provider.forgery = {};
  provider.outages.clear();
  provider.user = { email: "interlock-admin", groups: ["sre"] };
});

afterAll(async () => {
  await server.close();
  await provider.close();
  await cluster.close();
  await api.close();
});

const endlessEvents: ApiRoute = {
  method: "GET",
  path: "/api/v1/events",
  summary: "Events without an end.",
  access: "viewer",
  async handle(call) {
    const clock = systemClock();
    await sendEvents(call, { ...clock, now: () => clock.now() * 100 }, async function* (signal) {
      for (; !signal.aborted; await sleep(clock, 10)) yield ":\n\n";
    });
  },
};

/** Rows and a ledger that the console may read, for every caller. */
function readContext(one: KubeClient): ReadContext {
  const row = { kind: "incidents", key: "payment/rr-1" } as unknown as IncidentRow;
  const page = async () => ({ version: "1", total: 1, rows: [row] });
  const openLedger = async () => ({
    place: "memory",
    async *events() {},
    writers: async () => [],
    head: async () => undefined,
    async *lines() {},
    close: async () => {},
  });
  const cli = new TestCli(one);
  const parts = { projection: { page, row: async () => row }, openLedger, readEvents: async () => [] };
  return { ...cli, kinds: async () => builtInKinds, ...parts } as unknown as ReadContext;
}

const ask = (path: string, headers: Readonly<Record<string, string>>, body?: object) =>
  fetch(`${server.url}${path}`, {
    method: body ? "POST" : "GET",
    redirect: "manual",
    headers: { origin: server.url, ...headers, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });

const bearer = (token: keyof typeof users) => ({ authorization: `Bearer ${token}` });
const pauseRequest = (key: string) => ({ scope: ["all"], reason: "test", key });

describe("a Kubernetes token", () => {
  it("is the user that the API server returns, with the operations that it allows this user", async () => {
    const session = await ask("/api/v1/session", bearer("token-of-the-operator"));

    expect(await session.json()).toMatchObject({
      user: "interlock-admin",
      mode: "cluster",
      role: "operator",
      operations: ["ack", "approve", "reject", "pause", "resume", "cancel", "run", "retry"],
    });
  });

  it("of a user who may only read shows no operation, and the server refuses all of them", async () => {
    const session = await ask("/api/v1/session", bearer("token-of-the-reader"));
    const pause = await ask("/api/v1/operations/pause", bearer("token-of-the-reader"), pauseRequest("reader-1"));

    expect(await session.json()).toMatchObject({ user: "interlock-reader", role: "viewer", operations: [] });
    expect(pause.status).toBe(403);
    expect(cluster.forwarded.filter(({ method, path }) => method === "POST" && path.includes("pauses"))).toEqual([]);
  });

  it.each([["token-of-a-master"], ["unknown"]])("is refused if it is %s", async (token) => {
    const response = await ask("/api/v1/session", { authorization: `Bearer ${token}` });

    expect(response.status).toBe(401);
    // Links are for local users, which a cluster does not have.
    expect(await response.json()).toMatchObject({ detail: "Log in first. Programs send Authorization: Bearer TOKEN." });
  });

  it("can be exchanged for a session, which acts as the same user", async () => {
    const exchange = await fetch(`${server.url}/api/v1/session`, {
      method: "POST",
      headers: bearer("token-of-the-reader"),
    });

    const session = await ask("/api/v1/session", { cookie: cookieIn(exchange) });

    expect(await session.json()).toMatchObject({ user: "interlock-reader" });
  });

  it("acts in the name of its user: every request impersonates the user", async () => {
    const response = await ask("/api/v1/operations/pause", bearer("token-of-the-operator"), pauseRequest("operator-1"));

    expect(response.status).toBe(200);
    const written = cluster.forwarded.find(
      ({ method, path }) => method === "POST" && path.includes(automationPauses.plural),
    );
    expect(written?.headers["impersonate-user"]).toBe("interlock-admin");
    expect(written?.headers["impersonate-group"]).toBe("sre, system:authenticated");
    expect(cluster.forwarded.filter(({ headers }) => headers["impersonate-user"] === undefined)).toEqual([]);
  });

  it("is in no log", () => {
    expect(JSON.stringify(log.events)).not.toMatch(/token-of/);
  });
});

describe("users and groups of the API server itself", () => {
  it.each([
    [{ name: "system:admin", groups: [] }, false],
    [{ name: "kim", groups: ["system:masters"] }, false],
    [{ name: "kim", groups: ["system:nodes"] }, false],
    [{ name: "", groups: [] }, false],
    [{ name: "kim", groups: ["sre", "system:authenticated"] }, true],
    [{ name: "system:serviceaccount:a:b", groups: ["system:serviceaccounts", "system:serviceaccounts:a"] }, true],
  ])("are impersonated if it is %j: %s", (user, expected) => {
    expect(canImpersonate(user)).toBe(expected);
  });
});

describe("a user of the API server without rights", () => {
  it.each(["/api/v1/ledger", "/api/v1/ledger/chains", "/api/v1/storm"])("gets nothing of %s", async (path) => {
    const refused = await ask(path, bearer("token-of-kim"));
    const allowed = await ask(path, bearer("token-of-the-reader"));

    expect([refused.status, allowed.status]).toEqual([403, 200]);
  });

  it("loses an open stream with the right to list what it shows", async () => {
    const response = await ask("/api/v1/events", bearer("token-of-a-former-reader"));
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);

    users["token-of-a-former-reader"].username = "kim";

    while (!(await reader?.read())?.done);
  });

  it("sees no rows about a target", async () => {
    const path = `/api/v1/targets/detail?target=${encodeURIComponent("git:gitlab.example.com/1@main")}`;

    const hidden = await (await ask(path, bearer("token-of-kim"))).json();
    const shown = await (await ask(path, bearer("token-of-the-reader"))).json();

    expect(hidden).toMatchObject({ incidents: [], executions: [], events: [] });
    expect(shown).toMatchObject({ incidents: [{ key: "payment/rr-1" }] });
  });
});

describe("a log-in at an identity provider", () => {
  /** A browser that goes to the provider and comes back with a code. */
  async function walk() {
    const start = await ask("/login/oidc", {});
    const pending = cookieIn(start);
    const consent = await fetch(start.headers.get("location") ?? "", { redirect: "manual" });
    const back = new URL(consent.headers.get("location") ?? "", provider.url);
    return { pending, back: `${back.pathname}${back.search}` };
  }

  it("ends with a session of the user and groups that the provider named", async () => {
    const { pending, back } = await walk();

    const end = await ask(back, { cookie: pending });

    expect(end.status).toBe(303);
    const cookies = end.headers.getSetCookie();
    const session = cookies.find((one) => one.includes("-session-"))?.replace(/;.*$/s, "") ?? "";
    expect(cookies.find((one) => one.includes("-log-in-"))).toContain("Max-Age=0");
    const response = await ask("/api/v1/operations/pause", { cookie: session }, pauseRequest("oidc-person"));
    expect(response.status).toBe(200);
    const written = cluster.forwarded.find(
      ({ method, path }) => method === "POST" && path.includes(automationPauses.plural),
    );
    expect(written?.headers["impersonate-group"]).toBe("oidc:sre, system:authenticated");
  });

  it("is refused for a code that was used before", async () => {
    const { pending, back } = await walk();
    await ask(back, { cookie: pending });

    expect((await ask(back, { cookie: pending })).status).toBe(401);
  });

  it("is refused in a browser that did not begin it: a log-in cannot be passed to another user", async () => {
    const { back } = await walk();
    const other = await walk();

    expect((await ask(back, {})).status).toBe(401);
    expect((await ask(back, { cookie: other.pending })).status).toBe(401);
  });

  it("is refused with a pending value that was changed, or that is a session", async () => {
    const { pending, back } = await walk();
    const exchange = await fetch(`${server.url}/api/v1/session`, { method: "POST", headers: bearer("token-of-kim") });
    const [name = ""] = pending.split("=");

    expect((await ask(back, { cookie: `${pending}x` })).status).toBe(401);
    expect((await ask(back, { cookie: `${name}=${cookieIn(exchange).split("=")[1]}` })).status).toBe(401);
  });

  it.each([
    ["for another client", { claims: { aud: "another" } }],
    ["of another provider", { claims: { iss: "https://evil.example.com" } }],
    ["with another nonce", { claims: { nonce: "another" } }],
    ["that has expired", { claims: { exp: 1 } }],
    ["with a foreign signature", { foreignKey: true as const }],
    ["without the name of the user", { claims: { email: undefined } }],
    ["with an address that is not verified", { claims: { email_verified: false } }],
    ["of a user of the API server's own", { claims: { email: "system:admin" } }],
    ["that names a service account", { claims: { email: "system:serviceaccount:kube-system:default" } }],
  ])("is refused for an ID token %s", async (_, forgery) => {
    const { pending, back } = await walk();
    provider.forgery = forgery;

    const end = await ask(back, { cookie: pending });

    expect(end.status).toBe(401);
    expect(end.headers.getSetCookie().some((one) => one.includes("-session-"))).toBe(false);
  });

  describe.each(["no response", 502, 429] as const)("while the provider responds with %s", (outage) => {
    it("cannot begin: that is an outage, not an error of the console", async () => {
      provider.outages.set("/.well-known/openid-configuration", outage);

      const start = await ask("/login/oidc", {});

      expect(start.status).toBe(503);
      expect(start.headers.get("retry-after")).not.toBeNull();
      expect(((await start.json()) as { detail: string }).detail).toMatch(/^The identity provider does not respond/);
      expect(log.events.filter(({ event }) => event === "identity provider unavailable")).not.toEqual([]);
    });

    it.each(["/token", "/jwks"])(
      "does not end with its response to %s, and is no refusal of the user",
      async (path) => {
        const { pending, back } = await walk();
        provider.outages.set(path, outage);

        const end = await ask(back, { cookie: pending });

        expect(end.status).toBe(503);
        expect(end.headers.getSetCookie().some((one) => one.includes("-session-"))).toBe(false);
      },
    );
  });

  it("leaves neither code nor token in the log", async () => {
    const { pending, back } = await walk();
    await ask(back, { cookie: pending });
    await ask(back, { cookie: pending });

    const code = new URLSearchParams(back.replace(/^.*\?/, "")).get("code") ?? "?";
    expect(JSON.stringify(log.events)).not.toContain(code);
  });
});

describe("the claims of a user", () => {
  const names = { username: "email", usernamePrefix: "oidc:", groups: "groups", groupsPrefix: "oidc:" };

  it("get the prefixes that keep them apart from other users and groups", () => {
    expect(userFrom({ email: "kim@example.com", groups: ["sre"] }, names)).toEqual({
      name: "oidc:kim@example.com",
      groups: ["oidc:sre", "system:authenticated"],
    });
  });

  it.each(["system:masters", "system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"])(
    "may not name %s: a provider has no users and groups of the API server",
    (own) => {
      const noPrefix = { username: "name", groups: "groups" };

      expect(userFrom({ name: "kim", groups: ["sre", own] }, noPrefix)).toBeUndefined();
      expect(userFrom({ name: own }, noPrefix)).toBeUndefined();
      expect(userFrom({ email: own, groups: own }, names)?.groups).toContain(`oidc:${own}`);
    },
  );

  it("may have one group as text, or none", () => {
    expect(userFrom({ email: "kim", groups: "sre" }, names)?.groups).toEqual(["oidc:sre", "system:authenticated"]);
    expect(userFrom({ email: "kim" }, names)?.groups).toEqual(["system:authenticated"]);
    expect(userFrom({ email: 5 }, names)).toBeUndefined();
  });
});
