import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { securityPage } from "../../scripts/security-tables.ts";
import { embeddedClient } from "../../src/apiserver/embedded-client.ts";
import { objectVerbs } from "../../src/apiserver/http/authorize.ts";
import { signalRoutes } from "../../src/app/signal-routes.ts";
import { consoleRoutes } from "../../src/console/http/routes.ts";
import { openProjection } from "../../src/console/projection/open-projection.ts";
import type { Projection } from "../../src/console/projection/projection.ts";
import type { ReadContext } from "../../src/console/read/index.ts";
import { type KubeClient, KubeError, type ResourceType } from "../../src/kube/index.ts";
import { type StageName, stages } from "../../src/manifests/index.ts";
import { executionNamespace, installCrds } from "../../src/resources/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { serverUnderTest, tokens } from "../conformance/server-under-test.ts";
import { Wire } from "../conformance/wire.ts";
import {
  type AskOptions,
  adminToken,
  type ConsoleUnderTest,
  consoleUnderTest,
} from "../console/http/console-under-test.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { type ServedGateway, servedGateway, token } from "../gateway/served-gateway.ts";

const page = readFileSync(new URL("../../docs/security.md", import.meta.url), "utf8");

describe("docs/security.md", () => {
  it("has the tables that the code makes: npm run docs writes them", async () => {
    expect(await securityPage(page)).toBe(page);
  });
});

describe("every cell of the embedded API server's table", () => {
  const { columns, rows } = tableIn(page, "embedded API server");
  const headers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "admin token": { authorization: `Bearer ${tokens.admin}` },
    "read-only token": { authorization: `Bearer ${tokens.readOnly}` },
    "impersonated user": { authorization: `Bearer ${tokens.admin}`, "impersonate-user": "kim" },
    "no token": { authorization: "" },
  };
  let server: Awaited<ReturnType<typeof serverUnderTest>>;
  let wire: Wire;

  beforeAll(async () => {
    server = await serverUnderTest();
    wire = new Wire(server.url, tokens.admin);
    await installCrds(embeddedClient(server.api));
  });

  afterAll(async () => {
    wire.close();
    await server.close();
  });

  it("covers every kind that is served", () => {
    const served = server.api.registry.all.map(({ plural, group }) => (group === "" ? plural : `${plural}.${group}`));

    expect(rows.map(([kind]) => kind)).toEqual(served);
    expect(columns.slice(1)).toEqual(Object.keys(headers));
  });

  it.each(rows)("is true of %s", async (kind, ...cells) => {
    const resource = server.api.registry.all.find(
      ({ plural, group }) => (group === "" ? plural : `${plural}.${group}`) === kind,
    );
    if (!resource) throw new Error(`${kind} is not served`);
    const root = resource.group === "" ? "/api/v1" : `/apis/${resource.apiVersion}`;
    const collection = `${root}/${resource.namespaced ? "namespaces/default/" : ""}${resource.plural}`;
    for (const [i, cell] of cells.entries()) {
      const identity = columns[i + 1] ?? "";
      const allowed: string[] = [];
      for (const verb of objectVerbs.filter((verb) => resource.verbs.includes(verb))) {
        const status = await attempt(wire, verb, { collection, headers: headers[identity] ?? {} });
        if (status !== 401 && status !== 403) allowed.push(verb);
      }
      expect(allowed.join(" ") || "–", `${kind}, ${identity}`).toBe(cell);
    }
  });
});

describe("every cell of the gateway's table", () => {
  const { columns, rows } = tableIn(page, "gateway");
  let gateway: ServedGateway;

  const unlimited = { authorization: `Bearer ${token}` };
  const ofSource = (source: string) => ({ authorization: `Bearer of-${source}-0123456789` });
  const sources = ["alertmanager", "generic", "kubernetes-events", "grafana", "pagerduty", "datadog", "cloudevents"];
  const signature = `v1=${createHmac("sha256", token).update("{}").digest("hex")}`;
  const routes = signalRoutes.map((route) => {
    return route.signature ? { ...route, signature: { ...route.signature, secrets: async () => [token] } } : route;
  });

  beforeAll(async () => {
    const limited = sources.map((source) => `s-${source} of-${source}-0123456789 ${source}`);
    gateway = await servedGateway({ routes, tokens: [`test ${token}`, ...limited].join("\n") });
  });

  afterAll(() => gateway.close());

  it("covers every route that the gateway describes", async () => {
    const { body } = await gateway.post("/openapi.json", undefined, { method: "GET" });

    const routes = Object.entries(body.paths as Record<string, object>).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(rows.map(([route]) => route)).toEqual(routes);
  });

  it.each(rows)("is true of %s", async (route, ...cells) => {
    const [method = "", path = ""] = route.split(" ");
    const own = sourceOf(path);
    const other = sources.find((source) => source !== own) ?? "";
    const identities: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
      "no token": [{ authorization: "" }],
      "unknown token": [
        { authorization: "Bearer nobody-knows-this-one" },
        { "x-gitlab-token": "nobody-knows-this-one" },
        { "x-pagerduty-signature": "v1=nobody-knows-this-one" },
      ],
      "token of its source": [unlimited, ofSource(own)],
      "token of another source": [ofSource(other)],
      "webhook secret": [{ "x-gitlab-token": token, authorization: "" }],
      "webhook signature": [{ "x-pagerduty-signature": signature }],
    };
    for (const [i, cell] of cells.entries()) {
      for (const headers of identities[columns[i + 1] ?? ""] ?? []) {
        const body = method === "GET" ? {} : { body: "{}" };
        const type = { "content-type": "application/json" };
        const { status } = await fetch(`${gateway.url}${path}`, { method, headers: { ...type, ...headers }, ...body });
        const isAllowed = status !== 401 && status !== 403;
        expect(isAllowed ? "yes" : "–", `${route}, ${columns[i + 1]}: ${status}`).toBe(cell);
      }
    }
  });
});

describe("every cell of the console's table", () => {
  const { columns, rows } = tableIn(page, "console");
  let server: ConsoleUnderTest;
  let projection: Projection;

  beforeAll(async () => {
    const [clock, random] = [systemClock(), systemRandom()];
    server = await consoleUnderTest({
      routes: (client) => {
        const options = { client, clock, random, log: silentLogger, idleMs: 60_000, maxConsecutiveFailures: 3 };
        projection = openProjection({ ...options, namespace: "kubernaut-system" });
        const contextFor = (client: KubeClient): ReadContext =>
          Object.assign(new TestCli(client), {
            ...{ projection, locksIn: "kubernaut-system" },
            rules: async () => ({ rules: [], problems: [] }),
            preview: async () => [],
            openLedger: async () => undefined,
          }) as unknown as ReadContext;
        return consoleRoutes({ projection, clock, random, contextFor, runsIn: executionNamespace });
      },
    });
    for (const role of ["viewer", "operator"] as const) await server.users.add(role, role);
  });

  afterAll(async () => {
    await server.close();
    projection.close();
  });

  it("covers every route that the console describes", async () => {
    const { paths } = (await (await server.ask("/api/v1/openapi.json")).json()) as { paths: Record<string, object> };
    const routes = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
    );

    expect(routes.filter((route) => !/ \/(healthz|readyz)$/.test(route)).sort()).toEqual(
      rows.map(([route]) => route).sort(),
    );
  });

  it.each(rows)("is true of %s", async (route, ...cells) => {
    const [method = "", pattern = ""] = route.split(" ");
    const path =
      pattern.replace(":kind", "pauses").replace(/:\w+/g, "none") + (pattern.endsWith("stream") ? "?kinds=pauses" : "");
    const callers: Readonly<Record<string, () => Promise<AskOptions>>> = {
      "no log-in": async () => ({}),
      "unknown token": async () => ({ token: "unknown" }),
      viewer: async () => ({ cookie: await server.logIn("viewer") }),
      operator: async () => ({ cookie: await server.logIn("operator") }),
      admin: async () => ({ cookie: await server.logIn() }),
      "admin token": async () => ({ token: adminToken }),
      "page of another origin": async () => {
        return { cookie: await server.logIn(), headers: { origin: "https://evil.example.com" } };
      },
    };
    for (const [i, cell] of cells.entries()) {
      const caller = await callers[columns[i + 1] ?? ""]?.();
      const body = method === "POST" ? { body: {} } : {};
      const response = await server.ask(path, { method, ...caller, ...body });
      await response.body?.cancel();
      server.passTime(61_000);
      const isAllowed = response.status !== 401 && response.status !== 403;
      expect(isAllowed ? "yes" : "–", `${route}, ${columns[i + 1]}: ${response.status}`).toBe(cell);
    }
  });
});

describe("every cell of the stages' table", () => {
  const { columns, rows } = tableIn(page, "stages");
  let server: Awaited<ReturnType<typeof serverUnderTest>>;

  beforeAll(async () => {
    server = await serverUnderTest();
  });

  afterAll(() => server.close());

  it("is about every stage", () => {
    expect(columns.slice(1)).toEqual([...stages]);
  });

  it.each(rows)("is true of %s", async (row, ...cells) => {
    const { type, subresource, namespace } = kindIn(row);
    for (const [i, stage] of stages.entries()) {
      const client = permittedClient(embeddedClient(server.api), stage as StageName);
      const written = (cells[i] ?? "").replace("–", "").split(" ").filter(Boolean);
      for (const verb of stageVerbs) {
        const isAllowed = await isPermitted(client, verb, { type, subresource, namespace });
        expect(isAllowed, `${stage} ${verb} ${row}`).toBe(written.includes(verb));
      }
    }
  });
});

const stageVerbs = ["get", "list", "watch", "create", "update", "patch", "delete"] as const;

/** The cells of the table behind a marker. */
function tableIn(text: string, name: string): { columns: string[]; rows: [string, ...string[]][] } {
  const [, table = ""] = new RegExp(`<!-- generated: ${name} -->\n([\\s\\S]*?)<!-- end -->`).exec(text) ?? [];
  const [columns = [], , ...rows] = table
    .trim()
    .split("\n")
    .map((line) => line.slice(2, -2).split(" | "));
  if (rows.length === 0) throw new Error(`docs/security.md has no table ${name}`);
  return { columns, rows: rows as [string, ...string[]][] };
}

interface Attempt {
  readonly collection: string;
  readonly headers: Readonly<Record<string, string>>;
}

const methods = {
  ...{ get: "GET", list: "GET", watch: "GET", create: "POST", update: "PUT", patch: "PATCH" },
  ...{ delete: "DELETE", deletecollection: "DELETE" },
} as const;

/** Tries a verb without changing anything. A permitted caller gets another problem than 401 and 403, or none. */
async function attempt(wire: Wire, verb: keyof typeof methods, { collection, headers }: Attempt) {
  const isWhole = ["list", "watch", "create", "deletecollection"].includes(verb);
  const method = methods[verb];
  const isRead = method === "GET";
  const response = await wire.open({
    method,
    path: isWhole ? collection : `${collection}/absent`,
    query: verb === "watch" ? { watch: "true" } : isRead ? {} : { dryRun: "All" },
    headers: { ...headers, ...(verb === "patch" ? { "content-type": "application/merge-patch+json" } : {}) },
    ...(isRead || method === "DELETE" ? {} : { body: {} }),
  });
  response.on("error", () => {});
  if (verb === "watch") response.destroy();
  else response.resume();
  return response.statusCode;
}

function sourceOf(path: string): string {
  return signalRoutes.find((route) => route.path === path)?.reader.source ?? "generic";
}

/** `remediationrequests/status.kubernaut.ai, in kubernaut-system` */
function kindIn(row: string) {
  const [, resource = "", group = "", where = ""] =
    /^([a-z/]+)(?:\.([a-z0-9.]+))?, (everywhere|in .+)$/.exec(row) ?? [];
  const [plural = "", subresource] = resource.split("/");
  const namespace = where === "everywhere" ? undefined : where.slice("in ".length);
  const apiVersion = group === "" ? "v1" : `${group}/v1`;
  const type: ResourceType = { apiVersion, kind: plural, plural, namespaced: namespace !== undefined };
  return { type, subresource, namespace };
}

interface Kind {
  readonly type: ResourceType;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
}

/** Whether the role allows it. The double asks the role before the server, so that what is there does not matter. */
async function isPermitted(client: KubeClient, verb: (typeof stageVerbs)[number], kind: Kind): Promise<boolean> {
  const { type, namespace } = kind;
  const ref = { name: "absent", ...(namespace !== undefined && { namespace }) };
  const object = { apiVersion: type.apiVersion, kind: type.kind, metadata: ref };
  const query = namespace === undefined ? {} : { namespace };
  const call = kind.subresource === "status" ? ({ subresource: "status" } as const) : undefined;
  // Only writes have subresources here: of a status, the other verbs would ask about the object itself.
  if (call && verb !== "update" && verb !== "patch") return false;
  try {
    if (verb === "get") await client.get(type, ref);
    if (verb === "list") await client.list(type, query);
    if (verb === "watch") await watchOnce(client, type, query);
    if (verb === "create") await client.create(type, object);
    if (verb === "update") await client.update(type, object, call);
    if (verb === "patch") await client.patch(type, ref, { merge: {} }, call);
    if (verb === "delete") await client.delete(type, ref);
  } catch (error) {
    return !(error instanceof KubeError && error.code === "forbidden");
  }
  return true;
}

async function watchOnce(client: KubeClient, type: ResourceType, query: { readonly namespace?: string }) {
  const stop = new AbortController();
  stop.abort();
  const watching = client.watch(type, query as never, { signal: stop.signal });
  for await (const _ of watching as AsyncIterable<unknown>) return;
}
