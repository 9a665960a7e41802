import { afterEach, describe, expect, it } from "vitest";
import { selfSigned } from "../../src/apiserver/self-signed.ts";
import { type HttpClientOptions, httpClient } from "../../src/kube/http/http-client.ts";
import { type KubeLease, leases } from "../../src/kube/lease.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { startTcpProxy } from "../services/tcp-proxy.ts";
import { hurriedClock } from "./hurried-clock.ts";
import {
  failure,
  json,
  mute,
  type Reply,
  reset,
  type ScriptedServer,
  scriptedServer,
  scriptedServerAt,
  text,
} from "./scripted-server.ts";
import { tlsFront } from "./tls-front.ts";

const at = { namespace: "default", name: "a" };
const lease: KubeLease = { metadata: { ...at, uid: "u" } };

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of opened.splice(0).reverse()) await server.close();
});

describe("a server that does not respond", () => {
  it("makes a call unavailable when it sends no response", async () => {
    const { client } = await over([mute], { limits: { headersMs: 100 } });

    await expect(client.get(leases, at)).rejects.toMatchObject({
      code: "unavailable",
      message: 'cannot get leases.coordination.k8s.io "a" in the namespace "default": no response within 100 ms',
    });
  });

  it("reports that a write may or may not have happened", async () => {
    const { client, server } = await over([mute], { limits: { headersMs: 100 } });

    const creating = client.create(leases, lease);

    await expect(creating).rejects.toThrow("no response within 100 ms; it may or may not have happened");
    expect(server.requests).toHaveLength(1);
  });

  it("makes a call unavailable when its response never ends", async () => {
    const endless: Reply = (response) => response.writeHead(200).write('{"metadata":');
    const { client } = await over([endless], { limits: { callMs: 200 } });

    await expect(client.get(leases, at)).rejects.toThrow("no result within 200 ms");
  });

  it("makes a call unavailable when no connection is established", async () => {
    const proxy = await startTcpProxy((await scripted(mute)).port);
    opened.push(proxy);
    proxy.become({ mode: "black-hole" });
    // TCP connects to the proxy; the TLS handshake behind it gets no answer.
    const client = open({ url: `https://127.0.0.1:${proxy.port}`, limits: { connectMs: 100 } });

    await expect(client.create(leases, lease)).rejects.toThrow("no connection within 100 ms; it did not happen");
  });

  it("makes a call unavailable when the response is too large", async () => {
    const { client } = await over([text("x".repeat(2_000))], { limits: { maxResponseBytes: 1_000 } });

    await expect(client.get(leases, at)).rejects.toThrow("a response of more than 1000 bytes");
  });

  it("makes a call unavailable when the server is not an API server", async () => {
    const { client } = await over([text("<html>login, secret</html>")]);

    const failing = client.get(leases, at);

    await expect(failing).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("not JSON") });
    await expect(failing).rejects.not.toThrow("secret");
  });
});

describe("the caller's signal", () => {
  it.each([
    ["before the answer begins", mute],
    ["inside the answer", ((response) => response.writeHead(200).write("{")) as Reply],
    ["in the pause before another try", failure(429, "TooManyRequests", {}, { "Retry-After": "20" })],
  ])("ends a call at once %s", async (_when, reply) => {
    const stop = new AbortController();
    const { client, server } = await over([reply]);

    const creating = client.create(leases, lease, { signal: stop.signal });
    await arrived(server, 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort();

    await expect(creating).rejects.toMatchObject({ name: "KubeError", code: "aborted" });
  });

  it("ends a call at once while its credentials are fetched", async () => {
    const stop = new AbortController();
    const credentials = async () => {
      stop.abort();
      return { token: "late" };
    };
    const { client, server } = await over([mute], { connection: { credentials } });

    const creating = client.create(leases, lease, { signal: stop.signal });

    await expect(creating).rejects.toMatchObject({ code: "aborted" });
    expect(server.requests).toEqual([]);
  });

  it("keeps no listener once the call is over", async () => {
    const { client } = await over([json(lease)]);
    const listeners = { added: 0, removed: 0 };
    const { signal } = new AbortController();
    count(signal, listeners);

    await client.get(leases, at, { signal });

    expect(listeners.added).toBeGreaterThan(0);
    expect(listeners.removed).toBe(listeners.added);
  });
});

describe("a call that failed", () => {
  it.each<[string, Reply]>([
    ["the connection was reset", reset],
    [
      "the response ended early",
      (response) => response.writeHead(200).write("{", () => response.socket?.resetAndDestroy()),
    ],
    ["there were too many requests", failure(429, "TooManyRequests")],
    ["the server was not ready", failure(503, "ServiceUnavailable")],
    ["a balancer found no server", text("bad gateway", { status: 502 })],
  ])("is retried when it reads and %s", async (_why, reply) => {
    const { client, server } = await over([reply, json(lease)]);

    expect(await client.get(leases, at)).toEqual(lease);
    expect(server.requests).toHaveLength(2);
  });

  it.each<[string, Reply]>([
    ["there were too many requests", failure(429, "TooManyRequests", {}, { "Retry-After": "1" })],
    ["the server asks to come back later", failure(503, "ServiceUnavailable", {}, { "Retry-After": "1" })],
  ])("is retried when it writes and %s", async (_why, reply) => {
    const { client, server } = await over([reply, json(lease, { status: 201 })], { clock: hurriedClock(20) });

    expect(await client.create(leases, lease)).toEqual({ kind: "created", object: lease });
    expect(server.requests.map(({ body }) => body)).toEqual(Array(2).fill(expect.stringContaining('"uid":"u"')));
  });

  it.each<[string, Reply]>([
    ["the connection was reset", reset],
    ["the server failed inside", failure(500, "InternalError")],
    ["the server was not ready and names no time", failure(503, "ServiceUnavailable")],
    ["the server took too long", failure(504, "Timeout")],
  ])("is not retried when it writes and %s", async (_why, reply) => {
    const { client, server } = await over([reply]);

    await expect(client.create(leases, lease)).rejects.toMatchObject({ code: "unavailable" });
    expect(server.requests).toHaveLength(1);
  });

  it("is retried after the delay that the server requests", async () => {
    const clock = hurriedClock(20);
    const { client } = await over([failure(429, "TooManyRequests", {}, { "Retry-After": "3" }), json(lease)], {
      clock,
    });
    const startedAt = clock.now();

    await client.get(leases, at);

    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(2_900);
  });

  it("is not retried after a delay that exceeds the limit of the call", async () => {
    const { client, server } = await over([failure(429, "TooManyRequests", {}, { "Retry-After": "3600" })]);

    await expect(client.get(leases, at)).rejects.toMatchObject({ code: "unavailable" });
    expect(server.requests).toHaveLength(1);
  });

  it("fails after four attempts", async () => {
    const { client, server } = await over([reset], { clock: hurriedClock(10) });

    await expect(client.get(leases, at)).rejects.toMatchObject({ code: "unavailable" });
    expect(server.requests).toHaveLength(4);
  });

  it("is retried when it writes and no server was listening yet", async () => {
    const { port, url, close } = await scriptedServer(mute);
    await close();

    const creating = open({ url }).create(leases, lease);
    await new Promise((resolve) => setTimeout(resolve, 20));
    opened.push(await scriptedServerAt(port, json(lease, { status: 201 })));

    expect(await creating).toEqual({ kind: "created", object: lease });
  });

  it("reports that a write did not happen when no server ever listened", async () => {
    const { url, close } = await scriptedServer(mute);
    await close();

    const creating = open({ url, clock: hurriedClock(10) }).create(leases, lease);

    await expect(creating).rejects.toThrow(/ECONNREFUSED.*; it did not happen/);
  });
});

describe("a response of the server", () => {
  it.each([
    [401, "Unauthorized", "forbidden"],
    [403, "Forbidden", "forbidden"],
    [410, "Expired", "gone"],
    [400, "BadRequest", "invalid"],
    [413, "RequestEntityTooLarge", "invalid"],
    [415, "UnsupportedMediaType", "invalid"],
    [422, "Invalid", "invalid"],
    [500, "InternalError", "unavailable"],
    [307, "Elsewhere", "unavailable"],
  ])("%i %s is %s", async (status, reason, code) => {
    const { client } = await over([failure(status, reason)]);

    await expect(client.update(leases, lease)).rejects.toMatchObject({ name: "KubeError", code });
  });

  it("names the permission that a Role lacks, whatever the message of the server", async () => {
    const { client } = await over([failure(403, "Forbidden", { message: "no" })]);

    await expect(client.patch(leases, at, { merge: {} }, { subresource: "status" })).rejects.toThrow(
      'cannot patch resource "leases/status" in API group "coordination.k8s.io" in the namespace "default": no',
    );
  });

  it("is returned unchanged when it names the permission itself", async () => {
    const attempt =
      'User "eve" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "default"';
    const { client } = await over([failure(403, "Forbidden", { message: attempt })]);

    await expect(client.create(leases, lease)).rejects.toMatchObject({ message: attempt });
  });

  it("rejects an object in a namespace that does not exist", async () => {
    const missing = { message: 'namespaces "default" not found', details: { name: "default", kind: "namespaces" } };
    const { client } = await over([failure(404, "NotFound", missing)]);

    await expect(client.create(leases, lease)).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(/namespaces "default" not found$/),
    });
  });

  it("includes the causes that the message leaves out", async () => {
    const details = { causes: [{ field: "spec.size", message: "must be positive" }] };
    const { client } = await over([failure(422, "Invalid", { message: "denied", details })]);

    await expect(client.create(leases, lease)).rejects.toThrow("denied; spec.size: must be positive");
  });

  it("distinguishes an existing object from a create that lost a race elsewhere", async () => {
    const { client } = await over([failure(409, "AlreadyExists"), failure(409, "Conflict")]);

    expect(await client.create(leases, lease)).toEqual({ kind: "already-exists" });
    await expect(client.create(leases, lease)).rejects.toMatchObject({ code: "unavailable" });
  });

  it("distinguishes a missing object from an unknown kind", async () => {
    const { client } = await over([
      failure(404, "NotFound", { details: { name: "a" } }),
      text("404 page not found", { status: 404 }),
    ]);

    expect(await client.get(leases, at)).toBeUndefined();
    await expect(client.get(leases, at)).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("404 page not found (are the leases of coordination.k8s.io/v1 installed?)"),
    });
  });
});

describe("a list", () => {
  it("is read in pages, and its items have their kind", async () => {
    const { client, server } = await over([page(["a", "b"], "more"), page(["c"])], { limits: { pageSize: 2 } });

    const { items, resourceVersion } = await client.list(leases, {
      namespace: "default",
      labelSelector: "a in (b, c)",
    });

    expect(items.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(["Lease a", "Lease b", "Lease c"]);
    expect(resourceVersion).toBe("7");
    expect(server.requests.map(({ url }) => Object.fromEntries(url.searchParams))).toEqual([
      { limit: "2", labelSelector: "a in (b, c)" },
      { limit: "2", continue: "more", labelSelector: "a in (b, c)" },
    ]);
  });

  it("is requested as a whole when it expires between two pages", async () => {
    const { client, server } = await over([page(["a"], "more"), failure(410, "Expired"), page(["b", "c"])]);

    const { items } = await client.list(leases);

    expect(items.map(({ metadata }) => metadata.name)).toEqual(["b", "c"]);
    expect(server.requests[2]?.url.search).toBe("");
  });
});

describe("an object", () => {
  it("is found by its name, even one that looks like a path", async () => {
    const { client, server } = await over([json(lease)]);

    await client.get(leases, { namespace: "default", name: "a/../b" });

    expect(server.requests[0]?.url.pathname).toBe("/apis/coordination.k8s.io/v1/namespaces/default/leases/a%2F..%2Fb");
  });

  it.each([".", ".."])("is not requested by the name %j", async (name) => {
    const { client, server } = await over([json(lease)]);

    await expect(client.delete(leases, { namespace: "default", name })).rejects.toMatchObject({ code: "invalid" });
    expect(server.requests).toEqual([]);
  });

  it("without a name or a namespace throws a TypeError", async () => {
    const { client, server } = await over([json(lease)]);

    await expect(client.delete(leases, { namespace: "default", name: "" })).rejects.toThrow(TypeError);
    await expect(client.get(leases, { name: "a" })).rejects.toThrow(TypeError);
    expect(server.requests).toEqual([]);
  });
});

describe("credentials", () => {
  it("are requested again when the server refuses them, also for a write", async () => {
    const tokens = ["old", "new"];
    const { client, server } = await over([failure(401, "Unauthorized"), json(lease, { status: 201 })], {
      connection: { credentials: async ({ refused }) => ({ token: tokens[refused ? 1 : 0] ?? "" }) },
    });

    const outcome = await client.create(leases, lease);

    expect(outcome.kind).toBe("created");
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer old", "Bearer new"]);
  });

  it("that stay refused are forbidden, and never printed", async () => {
    const { client, server } = await over([failure(401, "Unauthorized")], {
      connection: { credentials: async () => ({ token: "s3cret" }) },
    });

    const error = await client.get(leases, at).catch((cause: unknown) => cause);

    expect(error).toMatchObject({ code: "forbidden" });
    expect(`${error} ${JSON.stringify(error)}`).not.toContain("s3cret");
    expect(server.requests).toHaveLength(2);
  });

  it("that never arrive make a call unavailable", async () => {
    const { client } = await over([json(lease)], {
      connection: { credentials: () => new Promise(() => {}) },
      limits: { callMs: 100 },
    });

    await expect(client.create(leases, lease)).rejects.toThrow("no result within 100 ms; it did not happen");
  });

  it("impersonate another user if configured", async () => {
    const { client, server } = await over([json(lease)], {
      connection: { credentials: { token: "t", impersonate: { user: "eve", groups: ["one", "two"] } } },
    });

    await client.get(leases, at);

    expect(server.requests[0]?.headers).toMatchObject({ "impersonate-user": "eve", "impersonate-group": "one, two" });
  });
});

describe("over TLS", () => {
  it("a server with a certificate for another host is unavailable at once", async () => {
    const front = await secured(json(lease));
    const stranger = selfSigned(["127.0.0.1"], systemClock().wallMs(), systemRandom());
    const client = open({ url: front.url, connection: { ca: stranger.certificate } });

    await expect(client.create(leases, lease)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("certificate; it did not happen"),
    });
  });

  it("a server with a certificate for another name is unavailable", async () => {
    const front = await secured(json(lease));
    const client = open({ url: front.url, connection: { ca: front.certificate, serverName: "elsewhere" } });

    await expect(client.get(leases, at)).rejects.toThrow("does not match certificate's altnames");
  });

  it("a client certificate identifies the client", async () => {
    const us = selfSigned(["us"], systemClock().wallMs(), systemRandom());
    const front = await secured(json(lease), us);
    const connection = { ca: front.certificate, credentials: { cert: us.certificate, key: us.key } };

    expect(await open({ url: front.url, connection }).get(leases, at)).toEqual(lease);
    await expect(
      open({ url: front.url, connection: { ca: front.certificate }, clock: hurriedClock(10) }).get(leases, at),
    ).rejects.toMatchObject({ code: "unavailable" });
  });

  it("an invalid key is reported as invalid, and not printed", async () => {
    const client = open({ url: "https://127.0.0.1:1", connection: { credentials: { cert: "s3cret", key: "s3cret" } } });

    const error = await client.get(leases, at).catch((cause: unknown) => cause);

    expect(error).toMatchObject({ code: "invalid", message: expect.stringContaining("cannot be read as PEM") });
    expect(`${error} ${(error as Error).cause}`).not.toContain("s3cret");
  });
});

it("derives the time of a server whose clock is ahead by an hour", async () => {
  const clock = systemClock();
  const ahead = () => new Date(clock.wallMs() + 3_600_000);
  const { client } = await over([
    (response) => json(lease, { headers: { Date: ahead().toUTCString() } })(response, never),
  ]);

  await client.get(leases, at);

  expect(ahead().getTime() - client.serverNowMs()).toBeGreaterThanOrEqual(0);
  expect(ahead().getTime() - client.serverNowMs()).toBeLessThan(2_000);
});

it("sends calls one after another over one connection", async () => {
  const ports = new Set<number | undefined>();
  const { client } = await over([
    (response, request) => json(ports.add(response.socket?.remotePort) && lease)(response, request),
  ]);

  for (let i = 0; i < 5; i++) await client.get(leases, at);

  expect(ports.size).toBe(1);
});

const never = undefined as never;

type Options = Partial<Omit<HttpClientOptions, "connection">> & {
  connection?: Partial<HttpClientOptions["connection"]>;
};

async function over(replies: readonly Reply[], options: Options = {}) {
  const server = await scripted(...replies);
  return { server, client: open({ url: server.url, ...options }) };
}

function open({ url, connection, ...options }: Options & { url: string }) {
  return httpClient({
    connection: { url, ...connection },
    clock: systemClock(),
    random: systemRandom(),
    ...options,
    // Hurried clocks must not make a slow machine look like a silent server.
    limits: { connectMs: 60_000, headersMs: 60_000, callMs: 120_000, ...options.limits },
  });
}

async function scripted(...replies: readonly Reply[]): Promise<ScriptedServer> {
  const server = await scriptedServer(...replies);
  opened.push(server);
  return server;
}

async function secured(reply: Reply, clients?: ReturnType<typeof selfSigned>) {
  const front = await tlsFront((await scripted(reply)).port, clients);
  opened.push(front);
  return front;
}

async function arrived({ requests }: ScriptedServer, count: number) {
  while (requests.length < count) await new Promise((resolve) => setImmediate(resolve));
}

function page(names: readonly string[], next?: string): Reply {
  const items = names.map((name) => ({ metadata: { name } }));
  return json({ kind: "LeaseList", metadata: { resourceVersion: "7", ...(next ? { continue: next } : {}) }, items });
}

function count(signal: AbortSignal, listeners: { added: number; removed: number }) {
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
    listeners.added++;
    addEventListener.apply(signal, given);
  };
  signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
    listeners.removed++;
    removeEventListener.apply(signal, given);
  };
}
