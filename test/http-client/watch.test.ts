import { afterEach, describe, expect, it } from "vitest";
import type { KubeClient, WatchEvent } from "../../src/kube/client.ts";
import { type HttpClientLimits, httpClient } from "../../src/kube/http/http-client.ts";
import { type KubeLease, leases } from "../../src/kube/lease.ts";
import { type Clock, systemClock, systemRandom } from "../../src/time/index.ts";
import { ManualClock } from "../doubles/manual-clock.ts";
import { startTcpProxy, type TcpProxy } from "../services/tcp-proxy.ts";
import { failure, mute, type Reply, type ScriptedServer, scriptedServer, stream } from "./scripted-server.ts";

const opened: { close(): Promise<void> }[] = [];
const uncaught: unknown[] = [];
const note = (reason: unknown) => uncaught.push(reason);
process.on("unhandledRejection", note);

afterEach(async () => {
  for (const server of opened.splice(0).reverse()) await server.close();
  expect(uncaught.splice(0)).toEqual([]);
});

describe("a watch", () => {
  it("requests bookmarks and a timeout", async () => {
    const { client, server } = await over([stream([], (response) => response.end())]);

    await seen(client);

    const { timeoutSeconds, ...asked } = Object.fromEntries(server.requests[0]?.url.searchParams ?? []);
    expect(asked).toEqual({
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: "5",
      labelSelector: "app=web",
    });
    expect(Number(timeoutSeconds)).toBeGreaterThanOrEqual(300);
    expect(Number(timeoutSeconds)).toBeLessThanOrEqual(600);
  });

  it("ends when the server ends it, after all of its events", async () => {
    const { client } = await over([stream([event("ADDED", "a"), bookmark(9)], (response) => response.end())]);

    const { events, error } = await seen(client);

    expect(events).toEqual(["ADDED a", "BOOKMARK 9"]);
    expect(error).toBeUndefined();
  });

  it("parses events wherever the network cuts them", async () => {
    const bytes = Buffer.from(event("ADDED", "grün-🚦") + event("MODIFIED", "grün-🚦") + bookmark(9));
    const { client } = await over([stream(singles(bytes), (response) => response.end())]);

    expect((await seen(client)).events).toEqual(["ADDED grün-🚦", "MODIFIED grün-🚦", "BOOKMARK 9"]);
  });

  it("ignores events of an unknown type, and empty lines", async () => {
    const { client } = await over([
      stream(["\n", event("PONDERED", "a"), event("ADDED", "b")], (response) => response.end()),
    ]);

    expect((await seen(client)).events).toEqual(["ADDED b"]);
  });

  it.each<[string, Reply, string]>([
    [
      "in the middle of an event",
      stream([event("ADDED", "a"), '{"type":'], (response) => response.end()),
      "ended inside",
    ],
    ["by a reset", stream([event("ADDED", "a")], (response) => response.socket?.resetAndDestroy()), "broke off"],
    ["with something that is no event", stream([event("ADDED", "a"), "<html>\n"]), "not an event"],
    ["with an event without an object", stream([event("ADDED", "a"), "null\n"]), "not an event"],
    ["with an event that is too long", stream([event("ADDED", "a"), "x".repeat(3_000)]), "more than 2000 bytes"],
    [
      "by a server that reports a failure",
      stream([event("ADDED", "a"), errorEvent(500, "InternalError")]),
      "InternalError!",
    ],
    ["by a server that refuses from now on", stream([event("ADDED", "a"), errorEvent(403, "Forbidden")]), "Forbidden!"],
  ])("that ends %s is unavailable, after the events before", async (_how, reply, message) => {
    const { client } = await over([reply], { maxEventBytes: 2_000 });

    const { events, error } = await seen(client);

    expect(events).toEqual(["ADDED a"]);
    expect(error).toMatchObject({ name: "KubeError", code: "unavailable", message: expect.stringContaining(message) });
  });

  it.each<[string, Reply]>([
    ["in its stream", stream([event("ADDED", "a"), errorEvent(410, "Expired")])],
    ["as its response", failure(410, "Gone")],
  ])("that has lost its position is gone if the server reports it %s", async (_where, reply) => {
    const { client } = await over([reply]);

    expect((await seen(client)).error).toMatchObject({ code: "gone" });
  });

  it.each<[number, string, string]>([
    [403, "Forbidden", 'cannot watch resource "leases" in API group "coordination.k8s.io" at the cluster scope'],
    [400, "BadRequest", "BadRequest!"],
  ])("that is refused with %i throws the same error as any call", async (status, reason, message) => {
    const { client } = await over([failure(status, reason)]);

    expect((await seen(client)).error).toMatchObject({ message: expect.stringContaining(message) });
  });

  it("opens again when the connection fails before the stream begins", async () => {
    const { client } = await over([
      (response) => response.socket?.resetAndDestroy(),
      stream([event("ADDED", "a")], (response) => response.end()),
    ]);

    expect((await seen(client)).events).toEqual(["ADDED a"]);
  });

  it("is unavailable when the server accepts it and sends no response", async () => {
    const { client } = await over([mute], { headersMs: 100 });

    expect((await seen(client)).error).toMatchObject({ code: "unavailable" });
  });
});

describe("a watch without events", () => {
  it("is unavailable although its connection is open", async () => {
    const clock = new ManualClock();
    const { client, proxy } = await overProxy([stream([event("ADDED", "a")])], { silenceMs: 90_000 }, clock);

    const watching = seen(client, () => proxy.become({ mode: "black-hole" }));
    await until(() => proxy.network.mode === "black-hole");
    await until(() => clock.pendingTimers === 1);
    await clock.advance(90_000);

    const { events, error } = await watching;
    expect(events).toEqual(["ADDED a"]);
    expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining("silent for 90000 ms") });
  });

  it("stays open while there are bookmarks", async () => {
    const clock = new ManualClock();
    let received = 0;
    const bookmarks = stream([], async (response) => {
      for (let sent = 1; sent <= 5; sent++) {
        response.write(bookmark(sent));
        await until(() => received === sent && clock.pendingTimers === 1);
        await clock.advance(60_000);
      }
      response.end();
    });
    const { client } = await over([bookmarks], { silenceMs: 90_000 }, clock);

    const { events, error } = await seen(client, () => received++);

    expect(events).toHaveLength(5);
    expect(error).toBeUndefined();
  });

  it("stays open while its reader is busy", async () => {
    const clock = new ManualClock();
    const { client } = await over(
      [stream([event("ADDED", "a"), event("ADDED", "b")], (response) => response.end())],
      { silenceMs: 90_000 },
      clock,
    );

    const { events, error } = await seen(client, () => clock.advance(200_000));

    expect(events).toEqual(["ADDED a", "ADDED b"]);
    expect(error).toBeUndefined();
  });
});

describe("a cut connection", () => {
  it("reaches a reader that was busy when it happened", async () => {
    const { client, proxy } = await overProxy([stream([event("ADDED", "a")])]);

    const { events, error } = await seen(client, async () => {
      proxy.become({ mode: "cut" });
      await new Promise((resolve) => setTimeout(resolve, 100));
    });

    expect(events).toEqual(["ADDED a"]);
    expect(error).toMatchObject({ code: "unavailable" });
  });

  it("is noticed at once, and the next watch continues", async () => {
    const { client, proxy } = await overProxy([
      stream([event("ADDED", "a")]),
      stream([event("ADDED", "b")], (response) => response.end()),
    ]);

    const first = await seen(client, () => proxy.become({ mode: "cut" }));
    proxy.become({ mode: "pass" });
    const second = await seen(client);

    expect(first).toMatchObject({ events: ["ADDED a"], error: { code: "unavailable" } });
    expect(second).toEqual({ events: ["ADDED b"], error: undefined });
  });
});

describe("the reader of a watch", () => {
  it.each<[string, Reply]>([
    ["before the server answers", mute],
    ["while nothing happens", stream([])],
  ])("ends it without an error by its signal %s", async (_when, reply) => {
    const { client, server } = await over([reply]);
    const stop = new AbortController();

    const watching = seen(client, undefined, stop.signal);
    await until(() => server.requests.length === 1);
    stop.abort();

    expect(await watching).toEqual({ events: [], error: undefined });
  });

  it("receives nothing after its signal, not even events that have arrived", async () => {
    const { client } = await over([stream([event("ADDED", "a") + event("ADDED", "b")])]);
    const stop = new AbortController();

    const { events } = await seen(client, () => stop.abort(), stop.signal);

    expect(events).toEqual(["ADDED a"]);
  });

  it("closes the connection by leaving the loop", async () => {
    let closed = false;
    const { client } = await over([
      stream([event("ADDED", "a")], (response) => response.on("close", () => (closed = true))),
    ]);

    for await (const _ of client.watch(leases, { resourceVersion: "5" })) break;

    await until(() => closed);
  });
});

async function over(replies: readonly Reply[], limits: Partial<HttpClientLimits> = {}, clock: Clock = systemClock()) {
  const server = await scriptedServer(...replies);
  opened.push(server);
  return { server, client: open(server.url, limits, clock) };
}

async function overProxy(
  replies: readonly Reply[],
  limits: Partial<HttpClientLimits> = {},
  clock: Clock = systemClock(),
): Promise<{ server: ScriptedServer; proxy: TcpProxy; client: KubeClient }> {
  const { server } = await over(replies);
  const proxy = await startTcpProxy(server.port);
  opened.push(proxy);
  return { server, proxy, client: open(`http://127.0.0.1:${proxy.port}`, limits, clock) };
}

function open(url: string, limits: Partial<HttpClientLimits>, clock: Clock) {
  return httpClient({ connection: { url }, clock, random: systemRandom(), limits });
}

/** All events of a watch, and how it ended. */
async function seen(client: KubeClient, then?: () => unknown, signal?: AbortSignal) {
  const events: string[] = [];
  try {
    const query = { resourceVersion: "5", labelSelector: "app=web" };
    for await (const received of client.watch(leases, query, signal ? { signal } : {})) {
      events.push(shown(received));
      await then?.();
    }
  } catch (error) {
    return { events, error };
  }
  return { events, error: undefined };
}

function shown(event: WatchEvent<KubeLease>): string {
  return `${event.type} ${event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.name}`;
}

function event(type: string, name: string): string {
  return `${JSON.stringify({ type, object: { kind: "Lease", metadata: { name, resourceVersion: "8" } } })}\n`;
}

function bookmark(version: number): string {
  return `${JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion: String(version) } } })}\n`;
}

function errorEvent(code: number, reason: string): string {
  return `${JSON.stringify({ type: "ERROR", object: { kind: "Status", code, reason, message: `${reason}!` } })}\n`;
}

function singles(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
}

async function until(condition: () => boolean) {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
