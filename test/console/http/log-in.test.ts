import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { rowKinds } from "../../../src/console/wire.ts";
import { admin, adminToken, type ConsoleUnderTest, consoleUnderTest, cookieIn } from "./console-under-test.ts";

let directory: string;
let server: ConsoleUnderTest;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "interlock-log-in-"));
  server = await consoleUnderTest({ directory });
});

afterEach(async () => {
  for (const { name } of await server.users.list()) if (name !== admin) await server.users.remove(name);
});

afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

describe("a log-in link", () => {
  it("becomes a session cookie that scripts and other sites cannot use, and leads to the start page", async () => {
    const response = await server.ask(`/login/link?token=${await server.links.create(admin)}`);

    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("/");
    expect(response.headers.get("set-cookie")).toMatch(
      /^interlock-session-\d+=\S+; Path=\/; HttpOnly; SameSite=Strict; Expires=/,
    );
    const session = await server.ask("/api/v1/session", { cookie: cookieIn(response) });
    expect(await session.json()).toMatchObject({
      user: admin,
      role: "admin",
      mode: "embedded",
      version: "1.2.3",
      kinds: rowKinds,
    });
  });

  it("logs in once: a second use is refused", async () => {
    const token = await server.links.create(admin);
    await server.ask(`/login/link?token=${token}`);

    const second = await server.ask(`/login/link?token=${token}`);

    expect(second.status).toBe(401);
    expect(second.headers.get("set-cookie")).toBeNull();
  });

  it("logs one of two simultaneous requests in", async () => {
    const token = await server.links.create(admin);

    const responses = await Promise.all(Array.from({ length: 5 }, () => server.ask(`/login/link?token=${token}`)));

    expect(responses.map(({ status }) => status).sort()).toEqual([303, 401, 401, 401, 401]);
    server.passTime(61_000);
  });

  it("is refused after ten minutes", async () => {
    const token = await server.links.create(admin);
    server.passTime(10 * 60_000 + 1);

    const response = await server.ask(`/login/link?token=${token}`);

    expect(response.status).toBe(401);
  });

  it("is not used up by a browser that loads the page in advance, nor by HEAD", async () => {
    const token = await server.links.create(admin);
    const path = `/login/link?token=${token}`;

    const early = await server.ask(path, { headers: { "sec-purpose": "prefetch;prerender" } });
    await server.ask(path, { method: "HEAD" });

    expect(early.status).toBe(403);
    expect((await server.ask(path)).status).toBe(303);
  });

  it("can be created after a crash left an unfinished one", async () => {
    await server.links.create(admin);
    await writeFile(join(directory, "links", `${"0".repeat(64)}.new`), '{"user":');

    const response = await server.ask(`/login/link?token=${await server.links.create(admin)}`);

    expect(response.status).toBe(303);
  });

  it("leads a browser back to the start page when it is refused", async () => {
    const response = await server.ask("/login/link?token=unknown", { headers: { accept: "text/html,*/*" } });

    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("/?log-in-failed=link");
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  it("is in no file and in no log", async () => {
    const token = await server.links.create(admin);
    const files = await readdir(directory, { recursive: true, withFileTypes: true });
    const texts = await Promise.all(
      files.filter((one) => one.isFile()).map(({ parentPath, name }) => readFile(join(parentPath, name), "utf8")),
    );
    await server.ask(`/login/link?token=${token}`);
    await server.ask(`/login/link?token=${token}`);

    expect(`${texts.join("\n")}${JSON.stringify(server.log.events)}`).not.toContain(token);
  });

  it("of a user who was removed meanwhile is refused", async () => {
    await server.users.add("kim", "operator");
    const token = await server.links.create("kim");
    await server.users.remove("kim");

    const response = await server.ask(`/login/link?token=${token}`);

    expect(response.status).toBe(401);
  });
});

describe("a session", () => {
  it("ends after its time", async () => {
    const cookie = await server.logIn();
    server.passTime(12 * 3_600_000 + 1);

    const response = await server.ask("/api/v1/session", { cookie });

    expect(response.status).toBe(401);
  });

  it("ends with a log-out, also for a copy of its cookie", async () => {
    const cookie = await server.logIn();

    const left = await server.ask("/api/v1/session", { method: "DELETE", cookie });

    expect(left.status).toBe(200);
    expect(left.headers.get("set-cookie")).toMatch(/=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0/);
    expect((await server.ask("/api/v1/session", { cookie })).status).toBe(401);
  });

  it("ends when its user is removed, and stays ended when the name is added again", async () => {
    await server.users.add("kim", "operator");
    const cookie = await server.logIn("kim");
    await server.users.remove("kim");
    const removed = await server.ask("/api/v1/session", { cookie });
    await server.users.add("kim", "operator");

    const again = await server.ask("/api/v1/session", { cookie });

    expect([removed.status, again.status]).toEqual([401, 401]);
  });

  it("ends when all sessions of its user are ended, also for the admin", async () => {
    const cookie = await server.logIn();
    await server.users.endSessions(admin);

    expect((await server.ask("/api/v1/session", { cookie })).status).toBe(401);
    expect((await server.ask("/api/v1/session", { cookie: await server.logIn() })).status).toBe(200);
  });

  it("has the role that its user has now, not the one at the log-in", async () => {
    await server.users.add("kim", "operator");
    const cookie = await server.logIn("kim");
    await server.users.add("kim", "viewer");

    const session = await server.ask("/api/v1/session", { cookie });

    expect(await session.json()).toMatchObject({ user: "kim", role: "viewer", operations: [] });
  });

  it("is good at another process with the same directory", async () => {
    const other = await consoleUnderTest({ directory });
    const cookie = await server.logIn();
    const name = `interlock-session-${new URL(other.url).port}`;

    const response = await other.ask("/api/v1/session", { cookie: cookie.replace(/^[^=]+/, name) });

    expect(response.status).toBe(200);
    await other.close();
  });

  it.each([
    ["a changed payload", (value: string) => `e30${value.slice(3)}`],
    ["a changed signature", (value: string) => `${value.slice(0, -2)}AA`],
    ["no signature", (value: string) => value.replace(/\..*$/, "")],
    ["a third part", (value: string) => `${value}.x`],
    ["nothing", () => ""],
  ])("with %s is refused", async (_, change) => {
    const [name = "", value = ""] = (await server.logIn()).split("=");

    const response = await server.ask("/api/v1/session", { cookie: `${name}=${change(value)}` });

    expect(response.status).toBe(401);
  });

  it("is signed with a key that only its owner can read", async () => {
    expect((await stat(join(directory, "session-key"))).mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, "users.json"))).mode & 0o777).toBe(0o600);
  });
});

describe("a bearer token", () => {
  it("of the embedded API server is the admin, and can be exchanged for a session", async () => {
    const session = await server.ask("/api/v1/session", { token: adminToken });
    const exchange = await server.ask("/api/v1/session", { method: "POST", token: adminToken });

    expect(await session.json()).toMatchObject({ user: admin, role: "admin" });
    expect((await server.ask("/api/v1/session", { cookie: cookieIn(exchange) })).status).toBe(200);
  });

  it("that is wrong is refused, and after ten failures the address has to wait; sessions are not affected", async () => {
    const cookie = await server.logIn();
    server.passTime(61_000);
    const logged = server.log.events.length;
    const statuses = [];
    for (let i = 0; i < 12; i++) statuses.push((await server.ask("/api/v1/session", { token: `wrong-${i}` })).status);

    const right = await server.ask("/api/v1/session", { token: adminToken });

    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    expect(right.status).toBe(429);
    const failures = server.log.events.slice(logged).filter(({ event }) => event === "log-in failed");
    expect(failures).toMatchObject([{ level: "warn", fields: { address: "127.0.0.1" } }]);
    expect(JSON.stringify(failures)).not.toContain("wrong-");
    expect((await server.ask("/api/v1/session", { cookie })).status).toBe(200);
    server.passTime(61_000);
    expect((await server.ask("/api/v1/session", { token: adminToken })).status).toBe(200);
  });
});

describe("local users", () => {
  it("that several processes add at the same time are all kept", async () => {
    const names = Array.from({ length: 8 }, (_, i) => `user-${i}`);

    await Promise.all(names.map((name) => server.users.add(name, "viewer")));

    expect((await server.users.list()).map(({ name }) => name).sort()).toEqual([admin, ...names].sort());
  });
});
