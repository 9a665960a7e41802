import { EventEmitter, once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { sendEvents } from "../../../src/console/http/event-stream.ts";
import { rowRoutes } from "../../../src/console/http/row-routes.ts";
import { openProjection } from "../../../src/console/projection/open-projection.ts";
import type { Projection } from "../../../src/console/projection/projection.ts";
import type { Changes, RowPage } from "../../../src/console/wire.ts";
import { namespaces } from "../../../src/kube/index.ts";
import { automationPauses } from "../../../src/resources/index.ts";
import { silentLogger } from "../../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";
import { adminToken, type ConsoleUnderTest, consoleUnderTest } from "./console-under-test.ts";

let server: ConsoleUnderTest;
let projection: Projection;
const namespace = "kubernaut-system";
const [clock, random] = [systemClock(), systemRandom()];

beforeAll(async () => {
  server = await consoleUnderTest({
    routes: (client) => {
      const options = { client, clock, random, log: silentLogger, idleMs: 60_000 };
      projection = openProjection({ ...options, namespace, maxConsecutiveFailures: 3 });
      return rowRoutes(projection, clock);
    },
  });
  await server.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
});

afterAll(async () => {
  await server.close();
  projection.close();
});

async function pause(name: string): Promise<void> {
  const spec = { scope: "All", reason: "test", requestedBy: "kim", requestedAt: "2026-01-01T00:00:00.000Z" };
  const { apiVersion, kind } = automationPauses;
  await server.client.create(automationPauses, { apiVersion, kind, metadata: { name, namespace }, spec } as never);
}

interface StreamEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

/** Reads a stream until `isEnough`, and leaves. */
async function read(
  headers: Readonly<Record<string, string>>,
  isEnough: (events: readonly StreamEvent[]) => boolean,
  query = "kinds=pauses",
): Promise<readonly StreamEvent[]> {
  const left = new AbortController();
  const response = await fetch(`${server.url}/api/v1/stream?${query}`, {
    headers: { authorization: `Bearer ${adminToken}`, ...headers },
    signal: left.signal,
  });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const events: StreamEvent[] = [];
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) events.push(parse(frame));
    if (isEnough(events)) break;
  }
  left.abort();
  return events;
}

function parse(frame: string): StreamEvent {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(frame)?.[1];
  const id = field("id");
  return { event: field("event") ?? "", data: JSON.parse(field("data") ?? "null"), ...(id !== undefined && { id }) };
}

async function* endlessEvents(gone: AbortSignal) {
  yield ":\n\n";
  await once(gone, "abort");
}

const changedNames = (events: readonly StreamEvent[]) =>
  events
    .filter(({ event }) => event === "changes")
    .flatMap(({ data }) => (data as Changes).changed.map(({ key }) => key));

async function page(query = ""): Promise<RowPage> {
  return (await (await server.ask(`/api/v1/rows/pauses${query}`, { token: adminToken })).json()) as RowPage;
}

describe("rows over HTTP", () => {
  it("are served in pages that follow one another", async () => {
    for (const name of ["one", "two", "three"]) await pause(`page-${name}`);
    await expect.poll(async () => (await page("?search=page-")).total).toBe(3);

    const first = await page("?search=page-&limit=2");
    const second = await page(`?search=page-&limit=2&after=${encodeURIComponent(first.next ?? "")}`);

    expect([first.rows.length, second.rows.length, second.next]).toEqual([2, 1, undefined]);
    expect(new Set([...first.rows, ...second.rows].map(({ key }) => key)).size).toBe(3);
  });

  it.each([
    "/api/v1/rows/secrets",
    "/api/v1/rows/pauses?limit=0",
    "/api/v1/rows/pauses?colour=red",
    "/api/v1/rows/pauses?after=nonsense",
    "/api/v1/stream?kinds=secrets",
    "/api/v1/stream",
  ])("are refused with 400 for %s", async (path) => {
    expect((await server.ask(path, { token: adminToken })).status).toBe(400);
  });

  it("include the page Now", async () => {
    const response = await server.ask("/api/v1/now", { token: adminToken });

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ lanes: expect.any(Array), pauses: expect.any(Array) });
  });
});

describe("the stream", () => {
  it("continues after the Last-Event-ID: nothing that happened meanwhile is missed, nothing comes twice", async () => {
    const { version } = await page();
    await pause("stream-1");
    const before = await read({}, (events) => changedNames(events).length > 0, `kinds=pauses&after=${version}`);
    const lastId = before.findLast(({ id }) => id !== undefined)?.id ?? "";
    await pause("stream-2");

    const after = await read({ "last-event-id": lastId }, (events) => changedNames(events).length > 0);

    expect(changedNames(before)).toEqual([`${namespace}/stream-1`]);
    expect(changedNames(after)).toEqual([`${namespace}/stream-2`]);
  });

  it("beats while nothing happens, with the age of the data", async () => {
    const events = await read({}, (events) => events.filter(({ event }) => event === "beat").length >= 2);

    expect(events.find(({ event }) => event === "beat")?.data).toMatchObject({
      serverTime: expect.any(String),
      currentAt: expect.any(String),
    });
  });

  it("can be read by many viewers without a warning of Node", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    onTestFinished(() => void process.off("warning", note));

    const beats = (events: Awaited<ReturnType<typeof read>>) => events.filter(({ event }) => event === "beat").length;
    await Promise.all(Array.from({ length: 20 }, () => read({}, (events) => beats(events) >= 2)));

    expect(warnings).toEqual([]);
  });

  it("is reset for an id that is not known", async () => {
    const events = await read({ "last-event-id": "of another server" }, (events) =>
      events.some(({ event }) => event === "reset"),
    );

    expect(changedNames(events)).toEqual([]);
  });

  it("is refused to pages of other origins and to callers without a log-in", async () => {
    const cookie = await server.logIn();

    const foreign = await server.ask("/api/v1/stream?kinds=pauses", {
      cookie,
      headers: { origin: "https://evil.example.com" },
    });
    const unknown = await server.ask("/api/v1/stream?kinds=pauses");

    expect([foreign.status, unknown.status]).toEqual([403, 401]);
  });

  it("ends when the user is removed", async () => {
    await server.users.add("kim", "viewer");
    const cookie = await server.logIn("kim");
    const response = await server.ask("/api/v1/stream?kinds=pauses", { cookie });
    await server.users.remove("kim");

    let text = "";
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();

    expect(text).toContain("event: beat");
  });

  it("is refused to a caller who was still being authenticated when the server closed", async () => {
    const handler = new EventEmitter();
    const entered = once(handler, "entered");
    const closing = await consoleUnderTest({
      routes: () => [
        {
          method: "GET",
          path: "/api/v1/events",
          summary: "Events without an end.",
          access: "viewer",
          async handle(call) {
            handler.emit("entered");
            await once(handler, "closing");
            await sendEvents(call, clock, endlessEvents);
          },
        },
      ],
    });
    const response = closing.ask("/api/v1/events", { token: adminToken });
    await entered;

    const closed = closing.close();
    handler.emit("closing");

    expect((await response).status).toBe(503);
    await closed;
  });

  it("continues for others while one viewer reads nothing", async () => {
    const { hostname, port } = new URL(server.url);
    const stuck = connect(Number(port), hostname);
    stuck.pause();
    stuck.write(
      `GET /api/v1/stream?kinds=pauses HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${adminToken}\r\n\r\n`,
    );

    const { version } = await page();
    await pause("beside-a-stuck-viewer");
    const events = await read({}, (events) => changedNames(events).length > 0, `kinds=pauses&after=${version}`);

    expect(changedNames(events)).toContain(`${namespace}/beside-a-stuck-viewer`);
    stuck.destroy();
  });
});
