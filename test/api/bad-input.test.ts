import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sleep, systemClock } from "../../src/time/index.ts";
import { serverUnderTest, tokens } from "../conformance/server-under-test.ts";
import { Wire } from "../conformance/wire.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

describe("for any request to the embedded API server,", () => {
  let server: Awaited<ReturnType<typeof serverUnderTest>>;
  let wire: Wire;

  beforeAll(async () => {
    server = await serverUnderTest();
    wire = new Wire(server.url, tokens.admin);
  });

  afterAll(async () => {
    expect((await wire.ask({ method: "GET", path: "/readyz" })).text).toBe("ok");
    wire.close();
    await server.close();
  });

  it.each([
    ["nothing", "", 400, "unexpected end of JSON input"],
    ["half an object", '{"apiVersion":', 400, "unexpected end of JSON input"],
    ["no JSON", "hello", 400, "invalid character 'h'"],
    ["a list", "[]", 400, "unrecognized"],
    ["a number", "1", 400, "unrecognized"],
    ["two objects", "{}{}", 400, "after top-level value"],
    ["a comma too many", '{"metadata":{"name":"a",}}', 400, "looking for beginning of object key string"],
    ["a line break in a string", '{"metadata":{"name":"a\nb"}}', 400, "in string literal"],
    ["a broken escape", '{"metadata":{"name":"\\x"}}', 400, "invalid string literal"],
    ["a wrong type", '{"metadata":{"name":"a"},"data":{"x":1}}', 400, "cannot be handled as a ConfigMap"],
    ["metadata that is a list", '{"metadata":[]}', 400, "cannot be handled as a ConfigMap"],
    ["a prototype", '{"metadata":{"name":"a"},"__proto__":{"x":1}}', 400, "not supported"],
    ["deep lists", `${"[".repeat(100_000)}`, 400, "exceeded max depth"],
    ["deep objects", '{"a":'.repeat(100_000), 400, "exceeded max depth"],
    [
      "another kind",
      '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}}',
      400,
      "cannot be handled as a ConfigMap",
    ],
    ["no name", '{"metadata":{}}', 422, "name or generateName is required"],
  ])("a body of %s is rejected with a Status that has the reason", async (_what, rawBody, code, message) => {
    const answer = await wire.ask({ method: "POST", path: configMaps, rawBody });

    expect(answer).toMatchObject({
      status: code,
      body: { kind: "Status", code, message: expect.stringContaining(message) },
    });
  });

  it("an object of 3 MiB is refused before it is read", async () => {
    const rawBody = JSON.stringify({ metadata: { name: "big" }, data: { x: "x".repeat(3 * 1_024 * 1_024) } });

    const answer = await wire.ask({ method: "POST", path: configMaps, rawBody });

    expect(answer).toMatchObject({ status: 413, body: { reason: "RequestEntityTooLarge" } });
  });

  it("a body without a length is cut off at the limit", async () => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    const received: string[] = [];
    socket.on("data", (text) => received.push(String(text)));
    socket.on("error", () => {});
    socket.write(`POST ${configMaps} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.admin}\r\n`);
    socket.write("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;

    for (let sent = 0; sent < 200 && received.length === 0; sent++) {
      socket.write(chunk);
      await sleep(systemClock(), 1);
    }

    expect(received.join("")).toContain("413 Payload Too Large");
    socket.destroy();
  });

  it.each([
    ["application/vnd.kubernetes.protobuf", "protobuf bodies are not supported", "use application/json"],
    ["text/plain", "unknown format", "application/json"],
  ])("a body of type %s is refused with 415 and what to use instead", async (type, message, instead) => {
    const answer = await wire.ask({
      method: "POST",
      path: configMaps,
      headers: { "Content-Type": type },
      rawBody: "k8s\u0000",
    });

    expect(answer).toMatchObject({
      status: 415,
      body: { reason: "UnsupportedMediaType", message: expect.stringContaining(message) },
    });
    expect(answer.text).toContain(instead);
  });

  it("a server-side apply is refused with 415 and what to use instead", async () => {
    const headers = { "Content-Type": "application/apply-patch+yaml" };

    const answer = await wire.ask({
      method: "PATCH",
      path: `${configMaps}/applied`,
      query: { fieldManager: "me" },
      headers,
      rawBody: "{}",
    });

    expect(answer).toMatchObject({ status: 415, body: { message: expect.stringContaining("merge-patch+json") } });
  });

  it.each([
    ["a in (", "found '', expected: ',', ')' or identifier"],
    ["a===b", "found '=', expected: identifier"],
    ["=,=,=", "expected: !, identifier, or 'end of string'"],
    [`${"a,".repeat(5_000)}=`, "expected: identifier after ','"],
    ["(".repeat(5_000), "expected: !, identifier, or 'end of string'"],
    [`x in (${"a,".repeat(5_000)}`, "expected: ',', ')' or identifier"],
    [`${"a".repeat(300)}=b`, "must be no more than 63 characters"],
  ])("the label selector %.40j is refused with 400", async (labelSelector, message) => {
    const answer = await wire.ask({ method: "GET", path: configMaps, query: { labelSelector } });

    expect(answer).toMatchObject({
      status: 400,
      body: { reason: "BadRequest", message: expect.stringContaining(message) },
    });
  });

  it.each(["data.x=1", "metadata.name", "metadata.name=a,,b", "=", "a in (b)", "constructor=x"])(
    "the field selector %j is refused with 400",
    async (fieldSelector) => {
      const answer = await wire.ask({ method: "GET", path: configMaps, query: { fieldSelector } });

      expect(answer).toMatchObject({ status: 400, body: { reason: "BadRequest" } });
    },
  );

  it.each([
    ["/api/v1/namespaces/default/nosuch", 404],
    ["/api/v1/namespaces/default/configmaps/a/b/c/d/e", 404],
    ["/apis/nosuch.example.com/v1/things", 404],
    ["/apis/constructor/__proto__/toString", 404],
    ["/api/v1/namespaces/%E0%A4%A", 400],
    [`/api/v1/namespaces/${"x".repeat(5_000)}`, 404],
    ["/api/v1//configmaps", 404],
    ["/../../etc/passwd", 404],
  ])("the path %.60s gets status %i", async (path, code) => {
    expect((await wire.ask({ method: "GET", path })).status).toBe(code);
  });

  it.each([
    { limit: "x" },
    { limit: "999999999999999999999" },
    { resourceVersion: "abc" },
    { resourceVersion: "-1" },
    { continue: "x" },
    { watch: "1", timeoutSeconds: "1e9" },
    { watch: "1", resourceVersion: "NaN" },
  ])("the query %o is refused with 400", async (query) => {
    expect((await wire.ask({ method: "GET", path: configMaps, query })).status).toBe(400);
  });

  it("a page of a list from a later revision than the newest is refused with 410, so that the client lists again", async () => {
    const token = Buffer.from(JSON.stringify({ rv: 2 ** 45, start: "default\u0000a" })).toString("base64url");

    const answer = await wire.ask({ method: "GET", path: configMaps, query: { continue: token } });

    expect(answer).toMatchObject({ status: 410, body: { reason: "Expired" } });
  });

  it.each([
    ["a rule that cannot be read", { "x-kubernetes-validations": [{ rule: "self.a +" }] }],
    ["a rule with an unknown function", { "x-kubernetes-validations": [{ rule: "frobnicate(self)" }] }],
    ["a pattern that cannot be read", { properties: { a: { type: "string", pattern: "(" } } }],
    ["fields without types", { properties: { a: {} } }],
    ["a reference", { properties: { a: { type: "object", $ref: "#/x" } } }],
  ])("a definition with %s is refused with 422", async (_what, schema) => {
    const answer = await wire.ask({
      method: "POST",
      path: definitions,
      body: definition({ type: "object", ...schema }),
    });

    expect(answer).toMatchObject({ status: 422, body: { reason: "Invalid" } });
  });

  it.each([
    { spec: 1 },
    { spec: {} },
    { spec: { names: [], versions: {} } },
    { spec: { group: "a.b", names: {}, versions: [] } },
  ])("the definition %j is refused", async (content) => {
    const answer = await wire.ask({
      method: "POST",
      path: definitions,
      body: { metadata: { name: "a.b" }, ...content },
    });

    expect([400, 422]).toContain(answer.status);
  });

  it("a JSON patch that copies a document into itself is rejected before it fills the memory", async () => {
    await wire.ask({ method: "POST", path: configMaps, body: { metadata: { name: "doubled" }, data: { a: "x" } } });
    const operations = Array.from({ length: 40 }, (_, i) => ({ op: "copy", from: "", path: `/data/d${i}` }));

    const answer = await wire.ask({
      method: "PATCH",
      path: `${configMaps}/doubled`,
      headers: { "Content-Type": "application/json-patch+json" },
      body: operations,
    });

    expect(answer.status).toBe(422);
  });

  it("a YAML bomb is refused", async () => {
    const lines = ['a: &a ["x","x","x","x","x","x","x","x","x"]'];
    for (let i = 1; i < 9; i++) {
      const [from, to] = [String.fromCharCode(96 + i), String.fromCharCode(97 + i)];
      lines.push(`${to}: &${to} [${Array(9).fill(`*${from}`).join(",")}]`);
    }

    const answer = await wire.ask({
      method: "POST",
      path: configMaps,
      headers: { "Content-Type": "application/yaml" },
      rawBody: lines.join("\n"),
    });

    expect(answer).toMatchObject({ status: 400, body: { kind: "Status" } });
  });

  it("a YAML body above its size limit is refused with 413", async () => {
    const rawBody = `metadata:\n  name: large\ndata:\n${"  a: b\n".repeat(50_000)}`;

    const answer = await wire.ask({
      method: "POST",
      path: configMaps,
      headers: { "Content-Type": "application/yaml" },
      rawBody,
    });

    expect(answer).toMatchObject({ status: 413, body: { kind: "Status", reason: "RequestEntityTooLarge" } });
  });

  it("JSON with the content type of YAML may be as large as JSON", async () => {
    const rawBody = JSON.stringify({ metadata: { name: "json-as-yaml" }, data: { a: "x".repeat(500_000) } });

    const answer = await wire.ask({
      method: "POST",
      path: configMaps,
      headers: { "Content-Type": "application/yaml" },
      rawBody,
    });

    expect(answer.status).toBe(201);
  });

  it.each(["constructor", "__proto__", "toString", "application/json-patch", "text/plain"])(
    "the content type %s is refused with 415 by every method that has a body",
    async (type) => {
      const headers = { "Content-Type": type };
      const ask = (method: string, path: string) => wire.ask({ method, path, headers, rawBody: "[]" });

      const answers = await Promise.all([
        ask("POST", configMaps),
        ask("PUT", `${configMaps}/kube-root-ca.crt`),
        ask("PATCH", `${configMaps}/kube-root-ca.crt`),
        ask("DELETE", `${configMaps}/kube-root-ca.crt`),
        ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
      ]);

      expect(answers.map(({ status }) => status)).toEqual([415, 415, 415, 415, 415]);
    },
  );

  it.each([
    ["no token", undefined, 401],
    ["an unknown token", "Bearer nobody", 401],
    ["no scheme", "admin-token", 401],
    ["the reading token, for a write", `Bearer ${tokens.readOnly}`, 403],
  ])("a request with %s is refused with %i", async (_what, authorization, code) => {
    const response = await fetch(`${server.url}${configMaps}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(authorization ? { authorization } : {}) },
      body: JSON.stringify({ metadata: { name: "secret" } }),
    });

    expect(response.status).toBe(code);
    expect(await response.json()).toMatchObject({ kind: "Status", code });
  });

  it("the read-only token can read", async () => {
    const response = await fetch(`${server.url}${configMaps}`, {
      headers: { authorization: `Bearer ${tokens.readOnly}` },
    });

    expect(response.status).toBe(200);
  });

  it.each([
    ["never ends its headers", "GET /api/v1/namespaces HTTP/1.1\r\nHost: x\r\n"],
    ["never sends its body", `POST ${configMaps} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`],
  ])("a sender that %s is not waited for", async (_what, text) => {
    await using impatient = await impatientServer();
    const socket = connect(impatient.port, "127.0.0.1");
    let received = "";
    socket.on("data", (chunk) => (received += String(chunk)));
    const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));

    socket.write(text);
    await closed;

    expect(received).toMatch(/^HTTP\/1.1 (408|401)/);
  });

  it("a watcher that does not read is disconnected, and the others continue", async () => {
    const path = `${configMaps}?watch=1&resourceVersion=${server.store.revision}`;
    const deaf = connect(Number(new URL(server.url).port), "127.0.0.1");
    const cut = new Promise<void>((resolve) => deaf.on("close", () => resolve()));
    deaf.on("error", () => {});
    deaf.pause();
    deaf.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.admin}\r\n\r\n`);
    const listening = await wire.open({ method: "GET", path });
    let received = 0;
    listening.on("data", (chunk: Buffer) => (received += chunk.length));

    for (let i = 0; i < 40; i++) {
      const body = { metadata: { name: `large-${i}` }, data: { x: "x".repeat(1_000_000) } };
      await wire.ask({ method: "POST", path: configMaps, body });
    }
    deaf.resume();

    await cut;
    while (received < 40_000_000) await sleep(systemClock(), 10);
    listening.destroy();
  });
});

async function impatientServer() {
  const server = await serverUnderTest({ timeouts: { headersMs: 200, requestMs: 200 } });
  return { port: Number(new URL(server.url).port), [Symbol.asyncDispose]: () => server.close() };
}

function definition(schema: object) {
  return {
    metadata: { name: "things.bad.example.com" },
    spec: {
      group: "bad.example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}
