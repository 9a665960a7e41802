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
});

function query(resourceVersion: string) {
  return { watch: "1", sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", resourceVersion };
}
