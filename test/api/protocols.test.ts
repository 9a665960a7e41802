import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveApi } from "../../src/apiserver/http/serve.ts";
import { selfSigned } from "../../src/apiserver/self-signed.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { serverUnderTest, tokens } from "../conformance/server-under-test.ts";
import { answerOf, Wire } from "../conformance/wire.ts";
import { volatileStore } from "../doubles/volatile-store.ts";

describe("a server with a certificate", () => {
  const tls = selfSigned(["127.0.0.1"], systemClock().wallMs(), systemRandom());
  let server: Awaited<ReturnType<typeof serverUnderTest>>;

  beforeAll(async () => {
    server = await serverUnderTest({ tls, timeouts: { headersMs: 300, requestMs: 300 } });
  });

  afterAll(() => server.close());

  it("refuses a valid and an invalid token over plain HTTP in the same way, and names the fix", async () => {
    for (const token of [tokens.admin, tokens.readOnly, "a-wrong-token"]) {
      const wire = new Wire(server.url.replace("https:", "http:"), token);

      const answer = await wire.ask({ method: "GET", path: "/api/v1/namespaces/default" });

      const message = expect.stringMatching(/^tokens are accepted over TLS only: use https:\/\//);
      expect(answer, token).toMatchObject({ status: 403, body: { kind: "Status", reason: "Forbidden", message } });
      wire.close();
    }
  });

  it("refuses the password of basic authentication over plain HTTP", async () => {
    const wire = new Wire(server.url.replace("https:", "http:"), "");
    const authorization = `Basic ${Buffer.from(`interlock:${tokens.admin}`).toString("base64")}`;

    expect(await wire.ask({ method: "GET", path: "/api", headers: { authorization } })).toMatchObject({ status: 403 });
    wire.close();
  });

  it("responds to health probes over plain HTTP", async () => {
    expect(await (await fetch(`${server.url.replace("https:", "http:")}/readyz`)).text()).toBe("ok");
  });

  it("accepts TLS", async () => {
    const answer = await new Promise<Awaited<ReturnType<typeof answerOf>>>((resolve, reject) => {
      const headers = { authorization: `Bearer ${tokens.admin}` };
      const url = `${server.url}/api/v1/namespaces/default`;
      const asking = httpsRequest(url, { ca: tls.certificate, headers }, (response) =>
        answerOf(response).then(resolve, reject),
      );
      asking.on("error", reject);
      asking.end();
    });

    expect(answer).toMatchObject({ status: 200, body: { kind: "Namespace" } });
  });

  it("accepts several requests over plain HTTP on the same port if configured", async () => {
    await using plain = await disposable(serverUnderTest({ tls, acceptPlainTokens: true }));
    const wire = new Wire(plain.url.replace("https:", "http:"), tokens.admin);

    for (let i = 0; i < 3; i++) {
      const body = { metadata: { name: `plain-${i}` }, data: { x: "x".repeat(200_000) } };
      const answer = await wire.ask({ method: "POST", path: "/api/v1/namespaces/default/configmaps", body });
      expect(answer.status).toBe(201);
    }
    wire.close();
  });

  it.each([
    ["sends nothing", ""],
    ["never ends its headers", "GET / HTTP/1.1\r\nHost: x\r\n"],
    ["never ends its handshake", "\u0016\u0003\u0001"],
  ])(
    "does not wait for a caller that %s",
    async (_what, text) => {
      const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
      const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
      socket.on("error", () => {});
      socket.resume();
      socket.write(text, "latin1");

      await closed;
    },
    5_000,
  );
});

describe("a server without a certificate, or on an address that other machines reach,", () => {
  const parts = { store: volatileStore(), clock: systemClock(), random: systemRandom(), tokens };

  it("does not start unless it may accept tokens over plain HTTP", async () => {
    await expect(serveApi(parts)).rejects.toThrow("without a certificate no token could be accepted");
  });

  it.each(["0.0.0.0", "::", "192.0.2.1", "interlock.example", "127.example"])(
    "does not start on %s with tokens over plain HTTP",
    async (host) => {
      const listen = { host, port: 0 };

      await expect(serveApi({ ...parts, listen, acceptPlainTokens: true })).rejects.toThrow("loopback address");
    },
  );

  it.each(["127.0.0.1", "127.1.2.3", "localhost"])("starts on %s with tokens over plain HTTP", async (host) => {
    const served = await serveApi({ ...parts, listen: { host, port: 0 }, acceptPlainTokens: true });

    await served.close();
  });
});

async function disposable<T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T & AsyncDisposable> {
  const opened = await opening;
  return { ...opened, [Symbol.asyncDispose]: () => opened.close() };
}
