import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recordingLogger } from "../../test/doubles/recording-logger.ts";
import { freePort } from "../../test/services/free-port.ts";
import { type RedisService, startRedis } from "../../test/services/redis.ts";
import { selfSigned } from "../apiserver/index.ts";
import { loadConfig } from "../config/index.ts";
import { keyOf, redisLocks } from "../coordination/index.ts";
import { sleep, systemClock, systemRandom } from "../time/index.ts";
import { openRedis } from "./redis.ts";

const clock = systemClock();
const random = systemRandom();

let dir: string;
let caFile: string;
let tlsPort: number;
let server: RedisService;
const opened: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "interlock-tls-"));
  const { certificate, key } = selfSigned(["localhost", "127.0.0.1"], clock.wallMs(), random);
  caFile = join(dir, "ca.pem");
  await writeFile(caFile, certificate);
  await writeFile(join(dir, "key.pem"), key);
  tlsPort = await freePort();
  const tls = ["--tls-cert-file", caFile, "--tls-key-file", join(dir, "key.pem"), "--tls-auth-clients", "no"];
  server = await startRedis({ persistence: "always", args: ["--tls-port", `${tlsPort}`, ...tls] });
});

afterAll(async () => {
  for (const close of opened.reverse()) await close();
  await server.stop();
  await rm(dir, { recursive: true });
});

describe("a Redis with TLS", () => {
  it("is trusted with the certificates of redis.caFile", async () => {
    const { locks } = await open({ REDIS_URL: `rediss://localhost:${tlsPort}`, REDIS_CA_FILE: caFile });

    const lease = await locks.acquire(keyOf("tls"));

    expect(await lease.release()).toEqual({ released: true });
  });

  it("is not trusted without them", async () => {
    await expect(open({ REDIS_URL: `rediss://localhost:${tlsPort}` })).rejects.toThrow(/self-signed|certificate/);
  });
});

describe("a Redis with users", () => {
  it("uses the name and password of the URL, and needs only the documented permissions", async () => {
    const allowed = [
      ...["~interlock:*", "&interlock:*", "+evalsha", "+eval", "+subscribe", "+info", "+config|get", "+hello", "+ping"],
      ...["+client|setname", "+@read", "+@write", "+publish", "+time"],
    ];
    await server.command("ACL", "SETUSER", "locker", "on", ">pass%word", ...allowed);

    const { locks } = await open({ REDIS_URL: `redis://locker:pass%25word@127.0.0.1:${server.port}` });
    const lease = await locks.acquire(keyOf("acl"));

    expect(await lease.release()).toEqual({ released: true });
  });

  it("logs the missing permission, and not the password", async () => {
    await server.command(
      "ACL",
      "SETUSER",
      "reader",
      "on",
      ">hunter2",
      "~*",
      "&*",
      "+@read",
      "+@connection",
      "+subscribe",
    );
    const log = recordingLogger();

    const opening = open({ REDIS_URL: `redis://reader:hunter2@127.0.0.1:${server.port}` }, log);

    await expect(opening).rejects.toThrow(/NOPERM.*(info|evalsha)/);
    expect(JSON.stringify(log.events)).not.toContain("hunter2");
  });
});

describe("a Redis of Azure", () => {
  const host = { REDIS_HOST: "localhost", REDIS_CA_FILE: "", REDIS_PORT: "" };
  beforeAll(() => {
    host.REDIS_CA_FILE = caFile;
    host.REDIS_PORT = `${tlsPort}`;
  });

  it("uses the token of a managed identity, and renews it before it expires, while a lock is held", async () => {
    const endpoint = await tokenEndpoint((query, headers) => {
      const isRight = query.get("resource") === "https://redis.azure.com" && query.get("client_id") === "client-1";
      return isRight && headers["x-identity-header"] === "header-1" ? 1.5 : undefined;
    });
    const { locks, downs } = await open({
      ...host,
      REDIS_URL: "redis://127.0.0.1:1",
      AZURE_CLIENT_ID: "client-1",
      IDENTITY_ENDPOINT: endpoint.url,
      IDENTITY_HEADER: "header-1",
    });
    const lease = await locks.acquire(keyOf("azure"));
    const [first = ""] = endpoint.users;
    const before = await connectionOf(first);

    while (endpoint.users.length < 3) await sleep(clock, 20);
    const [, second = ""] = endpoint.users;

    // The same connection, under another name: it was never given up.
    while ((await connectionOf(second)) !== before && (await connectionOf(endpoint.users[2] ?? "")) !== before) {
      await sleep(clock, 20);
    }
    expect(downs()).toBe(0);
    expect(lease.signal.aborted).toBe(false);
    expect(await lease.release()).toEqual({ released: true });
  });

  it("uses a token that the tenant exchanges for the cluster's token", async () => {
    const tokenFile = join(dir, "federated");
    await writeFile(tokenFile, "of-the-cluster\n");
    const endpoint = await tokenEndpoint((form, _headers, path) => {
      const isRight =
        path === "/tenant-1/oauth2/v2.0/token" &&
        form.get("client_id") === "client-1" &&
        form.get("client_assertion") === "of-the-cluster" &&
        form.get("scope") === "https://redis.azure.com/.default";
      return isRight ? 3_600 : undefined;
    });
    const { locks } = await open({
      ...host,
      AZURE_CLIENT_ID: "client-1",
      AZURE_TENANT_ID: "tenant-1",
      AZURE_FEDERATED_TOKEN_FILE: tokenFile,
      AZURE_AUTHORITY_HOST: endpoint.url,
    });

    const lease = await locks.acquire(keyOf("federated"));

    expect(await lease.release()).toEqual({ released: true });
  });

  it("fails if the identity is rejected, without a secret in the error", async () => {
    const endpoint = await tokenEndpoint(() => undefined);
    const log = recordingLogger();

    const opening = open({ ...host, IDENTITY_ENDPOINT: endpoint.url, IDENTITY_HEADER: "hunter2" }, log);

    await expect(opening).rejects.toThrow(/responded with 403/);
    await opening.catch((error) => expect(String(error)).not.toContain("hunter2"));
    expect(JSON.stringify(log.events)).not.toContain("hunter2");
  });
});

async function open(env: Record<string, string>, log = recordingLogger()) {
  const loaded = loadConfig({ env: { STATE_BACKEND: "redis", ...env } });
  if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
  const connection = await openRedis({ loaded, stage: "gateway", clock, random, log });
  let downs = 0;
  connection.use({ down: () => downs++ });
  const locks = redisLocks({ connection, clock, random, maxTtlMs: 60_000 });
  opened.push(() => locks.close());
  try {
    await connection.connect();
  } catch (error) {
    await connection.close();
    throw error;
  }
  return { locks, downs: () => downs };
}

/** The id of the connection that goes by this name, as Redis lists it. */
async function connectionOf(user: string): Promise<string | undefined> {
  const clients = String(await server.command("CLIENT", "LIST"));
  const line = clients.split("\n").find((text) => text.includes(` user=${user} `));
  return /id=(\d+)/.exec(line ?? "")?.[1];
}

type Judge = (asked: URLSearchParams, headers: Readonly<Record<string, unknown>>, path: string) => number | undefined;

/** Gives out tokens, each for a user of its own that Redis knows from then on. `judge`: for how many seconds, if at all. */
async function tokenEndpoint(judge: Judge) {
  const users: string[] = [];
  const http = createServer(async (request, response) => {
    const url = new URL(request.url ?? "", "http://localhost");
    let body = "";
    for await (const chunk of request) body += chunk;
    const seconds = judge(
      request.method === "POST" ? new URLSearchParams(body) : url.searchParams,
      request.headers,
      url.pathname,
    );
    if (seconds === undefined) {
      response.writeHead(403).end(body);
      return;
    }
    const oid = `user-${random.id()}`;
    const token = ["{}", JSON.stringify({ oid })].map((part) => Buffer.from(part).toString("base64url")).join(".");
    await server.command("ACL", "SETUSER", oid, "on", `>${token}.signed`, "~*", "&*", "+@all");
    users.push(oid);
    response.end(JSON.stringify({ access_token: `${token}.signed`, expires_in: String(seconds) }));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  opened.push(() => new Promise((resolve) => http.close(resolve)));
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`, users };
}
