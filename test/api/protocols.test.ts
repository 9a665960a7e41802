import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { selfSigned } from "../../src/kube/embedded/self-signed.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { serverUnderTest, tokens } from "../conformance/server-under-test.ts";
import { answerOf, Wire } from "../conformance/wire.ts";

describe("a server with a certificate", () => {
  const tls = selfSigned(["127.0.0.1"], systemClock().wallMs(), systemRandom());
  let server: Awaited<ReturnType<typeof serverUnderTest>>;

  beforeAll(async () => {
    server = await serverUnderTest({ tls, patience: { headersMs: 300, requestMs: 300 } });
  });

  afterAll(() => server.close());

  it("speaks TLS", async () => {
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

  it("speaks plain HTTP on the same port, request after request", async () => {
    const wire = new Wire(server.url.replace("https:", "http:"), tokens.admin);

    for (let i = 0; i < 3; i++) {
      const body = { metadata: { name: `plain-${i}` }, data: { x: "x".repeat(200_000) } };
      const answer = await wire.ask({ method: "POST", path: "/api/v1/namespaces/default/configmaps", body });
      expect(answer.status).toBe(201);
    }
    wire.close();
  });

  it.each([
    ["says nothing", ""],
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
