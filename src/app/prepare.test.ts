import { describe, expect, it } from "vitest";
import { recordingLogger } from "../../test/doubles/recording-logger.ts";
import { type LoadedConfig, loadConfig } from "../config/index.ts";
import { logConfig } from "./prepare.ts";

describe("the settings at start-up", () => {
  const yaml = { path: "/etc/interlock/interlock.yaml", text: "locks:\n  ttl: 5s\n" };
  const env = { STATE_BACKEND: "redis", REDIS_URL: "redis://:swordfish@redis:6379" };

  it("are logged with their origin, those that are not defaults at level info", () => {
    expect(logged("info")).toEqual([
      { setting: "state.backend", value: "redis", origin: "env STATE_BACKEND" },
      { setting: "redis.url", value: "[redacted]", origin: "env REDIS_URL" },
      { setting: "locks.ttl", value: "5s", origin: "file /etc/interlock/interlock.yaml:2" },
    ]);
    expect(logged("debug")).toContainEqual({ setting: "claims.doneTtl", value: "1h", origin: "default" });
    expect(logged("debug")).toContainEqual({ setting: "locks.backend", value: "redis", origin: "as state.backend" });
  });

  it("are logged without secrets", () => {
    expect(JSON.stringify([logged("info"), logged("debug"), logged("warn")])).not.toContain("swordfish");
  });

  it("are logged with the doubts about them", () => {
    expect(logged("warn")).toEqual([{ warning: expect.stringContaining("locks.ttl is 5s, outside 10s to 60s") }]);
  });

  function logged(level: string) {
    const log = recordingLogger();
    logConfig(loadConfig({ yaml, env }) as LoadedConfig, log);
    return log.events.filter((event) => event.level === level).map(({ fields }) => fields);
  }
});
