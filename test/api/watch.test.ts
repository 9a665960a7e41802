import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverUnderTest, tokens } from "../conformance/server-under-test.ts";
import { Wire } from "../conformance/wire.ts";

describe("a watch that begins with a list", () => {
  let server: Awaited<ReturnType<typeof serverUnderTest>>;
  let wire: Wire;

  beforeAll(async () => {
    server = await serverUnderTest();
    wire = new Wire(server.url, tokens.admin);
  });

  afterAll(async () => {
    wire.close();
    await server.close();
  });

  it("at a later version than the newest is rejected with Retry-After", async () => {
    const response = await wire.open({ method: "GET", path: "/api/v1/configmaps", query: query("9000000000") });

    expect(response.statusCode).toBe(504);
    expect(response.headers["retry-after"]).toBe("1");
    response.resume();
  });

  it("at an earlier version begins", async () => {
    const response = await wire.open({ method: "GET", path: "/api/v1/configmaps", query: query("101") });

    expect(response.statusCode).toBe(200);
    response.destroy();
  });

  it("sends the whole list, however large", async () => {
    const text = "x".repeat(1_000_000);
    const names = Array.from({ length: 20 }, (_, i) => `large-${i}`);
    for (const name of names) {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { text } };
      await wire.ask({ method: "POST", path: "/api/v1/namespaces/default/configmaps", body });
    }
    const more = { allowWatchBookmarks: "true", fieldSelector: "metadata.namespace=default", timeoutSeconds: "1" };

    const response = await wire.open({
      method: "GET",
      path: "/api/v1/configmaps",
      query: { ...query("101"), ...more },
    });

    const received = await readAll(response);
    const events = received
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    expect(events.slice(0, 20).map(({ object }) => object.metadata.name)).toEqual(names.toSorted());
    expect(events[20]).toMatchObject({ type: "BOOKMARK" });
  });
});

async function readAll(response: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function query(resourceVersion: string) {
  return { watch: "1", sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", resourceVersion };
}
