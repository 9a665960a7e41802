import { describe, expect, it } from "vitest";
import { parseRedisUrl } from "./redis-address.ts";

describe("the URL of a Redis", () => {
  it("names a server, its credentials and its database", () => {
    expect(parseRedisUrl("rediss://me:p%40ss@[::1]:6380/3")).toEqual({
      kind: "server",
      node: { host: "::1", port: 6380 },
      access: { tls: true, username: "me", password: "p@ss", db: 3 },
    });
  });

  it.each([
    ["another scheme", "http://localhost"],
    ["a port beyond 65535", "redis://localhost:65536"],
    ["a database that is not a number", "redis://localhost/abc"],
    ["a negative database", "redis://localhost/-1"],
    ["an incomplete escape", "redis://me:100%@localhost"],
    ["Sentinels without the name of a primary", "redis+sentinel://localhost"],
  ])("is rejected with %s, and not repeated in the error", (_, url) => {
    expect(() => parseRedisUrl(url)).toThrow(TypeError);
    expect(() => parseRedisUrl(url)).not.toThrow(url);
  });
});
