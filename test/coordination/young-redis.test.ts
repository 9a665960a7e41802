import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { plainEnv } from "../services/interlock.ts";
import { startRedis } from "../services/redis.ts";

describe("the example of the README, on a Redis that started a moment ago", () => {
  it("explains the wait, then works", async () => {
    await using redis = await startRedis();
    const args = ["--import", "tsx", "examples/exclusive-section.ts"];

    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: { ...plainEnv, REDIS_URL: redis.url },
    });

    const [explained, held, done] = stdout.split("\n");
    expect(explained).toMatch(/^Redis started a moment ago; grants begin in \d+ s$/);
    expect(held).toMatch(/^held, fence \d+$/);
    expect(done).toBe("done");
  });
});
