import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LedgerError } from "../../../src/ledger/index.ts";
import { z } from "../../../src/schema/index.ts";
import { adminToken, type ConsoleUnderTest, consoleUnderTest } from "./console-under-test.ts";

let directory: string;
let server: ConsoleUnderTest;
const written: unknown[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "interlock-web-"));
  await writeFile(join(directory, "secret.txt"), "outside of the web app");
  const web = join(directory, "web");
  await mkdir(join(web, "assets"), { recursive: true });
  await writeFile(join(web, "index.html"), "<!doctype html><title>Interlock</title>");
  await writeFile(join(web, "assets/main-Abc123_-9.js"), "start()");
  await writeFile(join(web, "assets/main-Abc123_-9.js.gz"), gzipSync("start()"));
  await writeFile(join(web, "favicon.svg"), "<svg/>");
  server = await consoleUnderTest({
    webDirectory: web,
    hosts: ["console.example.com"],
    routes: () => [
      {
        method: "POST",
        path: "/api/v1/write",
        summary: "Writes.",
        access: "operator",
        body: z.strictObject({ text: z.string() }),
        handle: async ({ body }) => {
          written.push(body);
          return {};
        },
      },
      {
        method: "GET",
        path: "/api/v1/ledger",
        summary: "Reads the ledger.",
        access: "viewer",
        handle: () => Promise.reject(new LedgerError("unavailable", "ledger at postgres://10.0.0.1 does not respond")),
      },
    ],
  });
});

afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

/** With headers that fetch does not let a caller set, and with the path as it is. */
function raw(path: string, headers: Readonly<Record<string, string>>, method = "GET") {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      let body = "";
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

describe("every response", () => {
  it.each(["/", "/incidents/a/b", "/api/v1/session", "/api/v1/nothing", "/healthz", "/login/link?token=x"])(
    "of %s forbids scripts of others, frames and guesses of its type",
    async (path) => {
      const { headers } = await server.ask(path);

      const policy = headers.get("content-security-policy") ?? "";
      expect(policy.split("; ")).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "frame-ancestors 'none'",
          "base-uri 'none'",
        ]),
      );
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      server.passTime(61_000);
    },
  );

  it("of the API is a problem in JSON when it is an error", async () => {
    const response = await server.ask("/api/v1/session");

    expect(response.headers.get("content-type")).toContain("application/problem+json");
    expect(await response.json()).toMatchObject({ type: "about:blank", title: "Unauthorized", status: 401 });
  });
});

describe("a ledger that does not respond", () => {
  it("is a problem that the caller can try again, without its address", async () => {
    const response = await server.ask("/api/v1/ledger", { token: adminToken });

    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain("10.0.0.1");
  });
});

describe("a page whose name was made to resolve to this machine", () => {
  it.each(["/", "/api/v1/session", "/api/v1/openapi.json", "/login/link?token=x"])(
    "gets nothing of %s",
    async (path) => {
      const authorization = `Bearer ${adminToken}`;

      const { status, body } = await raw(path, { host: "evil.example.com", authorization });

      expect(status).toBe(421);
      expect(body).not.toContain("<title>");
    },
  );

  it("is distinguished from a configured name", async () => {
    expect((await raw("/", { host: "console.example.com" })).status).toBe(200);
  });
});

describe("a write with a session", () => {
  const body = { text: "hello" };
  const ask = async (headers: Readonly<Record<string, string>>, sent: unknown = body) => {
    written.length = 0;
    const cookie = await server.logIn();
    return server.ask("/api/v1/write", { method: "POST", cookie, headers, body: sent });
  };

  it("is performed for a page of the console", async () => {
    expect((await ask({})).status).toBe(200);
    expect(written).toEqual([body]);
  });

  it.each([
    ["another site", { origin: "https://evil.example.com" }],
    ["another port of this machine", { origin: "http://127.0.0.1:1" }],
    ["a sandboxed frame", { origin: "null" }],
    ["another site, according to the browser", { "sec-fetch-site": "cross-site" }],
  ])("is refused for %s", async (_, headers) => {
    expect((await ask(headers)).status).toBe(403);
    expect(written).toEqual([]);
  });

  it("is refused without any sign of its origin", async () => {
    const cookie = await server.logIn();

    const { status } = await raw("/api/v1/write", { cookie, "content-type": "application/json" }, "POST");

    expect(status).toBe(403);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])(
    "is refused as %s, which a form could send",
    async (type) => {
      expect((await ask({ "content-type": type })).status).toBe(415);
      expect(written).toEqual([]);
    },
  );

  it("is refused if it is too large, not JSON, or has a field too many, and every problem is listed", async () => {
    expect((await ask({}, { text: "x".repeat(1_100_000) })).status).toBe(413);
    expect((await ask({}, "{")).status).toBe(400);
    const response = await ask({}, { text: 1, more: 2 });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { problems: readonly string[] }).problems).toHaveLength(2);
  });

  it("is refused for a viewer, however it is sent", async () => {
    written.length = 0;
    await server.users.add("kim", "viewer");
    const cookie = await server.logIn("kim");

    const response = await server.ask("/api/v1/write", { method: "POST", cookie, body });

    expect(response.status).toBe(403);
    expect(written).toEqual([]);
  });
});

describe("the files of the web app", () => {
  it("are cached for ever if their name has a hash; the start page never is", async () => {
    const script = await server.ask("/assets/main-Abc123_-9.js");
    const start = await server.ask("/");

    expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(start.headers.get("cache-control")).toBe("no-store");
    expect((await server.ask("/favicon.svg")).headers.get("cache-control")).toBe("no-cache");
  });

  it("are sent compressed if the build has compressed them and the browser reads that", async () => {
    const compressed = await server.ask("/assets/main-Abc123_-9.js", { headers: { "accept-encoding": "gzip" } });
    const plain = await server.ask("/assets/main-Abc123_-9.js", { headers: { "accept-encoding": "gzip;q=0" } });

    expect(compressed.headers.get("content-encoding")).toBe("gzip");
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect([await compressed.text(), await plain.text()]).toEqual(["start()", "start()"]);
  });

  it("have the start page for every page of the app, and 404 for a file that is not there", async () => {
    expect(await (await server.ask("/incidents/ns/rr-1")).text()).toContain("<title>Interlock</title>");
    expect((await server.ask("/assets/old-12345678.js")).status).toBe(404);
    expect((await server.ask("/api/v1/unknown")).status).toBe(404);
    expect((await server.ask("/", { method: "POST" })).status).toBe(404);
  });

  it.each([
    "/../secret.txt",
    "/..%2fsecret.txt",
    "/%2e%2e/secret.txt",
    "/assets/../../secret.txt",
    "/assets/..%5c..%5csecret.txt",
    "//etc/passwd",
    "/assets/main-Abc123_-9.js%00.html",
  ])("do not include %s", async (path) => {
    const { body } = await raw(path, { host: "localhost" });

    expect(body).not.toContain("outside of the web app");
    expect(body).not.toContain("root:");
  });
});

describe("the OpenAPI document", () => {
  it("gives every operation a name of its own", async () => {
    const { paths } = (await (await server.ask("/api/v1/openapi.json")).json()) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>;
    };

    const names = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));

    expect(names).toContain("getSession");
    expect(names).not.toContain(undefined);
    expect(new Set(names).size).toBe(names.length);
  });

  it("describes every route with its parameters, and can be read without a log-in", async () => {
    const response = await server.ask("/api/v1/openapi.json");

    expect(await response.json()).toMatchObject({
      openapi: "3.1.0",
      paths: {
        "/api/v1/session": { get: { security: [{ session: [] }, { token: [] }] } },
        "/api/v1/write": {
          post: { requestBody: { content: { "application/json": { schema: { required: ["text"] } } } } },
        },
      },
      components: { schemas: { Session: { type: "object" }, Problem: { type: "object" } } },
    });
  });
});
