import { describe, expect, it } from "vitest";
import { ManualClock } from "../../test/doubles/manual-clock.ts";
import { recordingLogger } from "../../test/doubles/recording-logger.ts";
import { testCluster } from "../../test/doubles/test-cluster.ts";
import { type LoadedConfig, loadConfig } from "../config/index.ts";
import type { KubeClient } from "../kube/index.ts";
import { systemRandom } from "../time/index.ts";
import { logConfig, prepare } from "./prepare.ts";

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

  it("are logged with their warnings", () => {
    expect(logged("warn")).toEqual([{ warning: expect.stringContaining("locks.ttl is 5s, outside 10s to 60s") }]);
  });

  function logged(level: string) {
    const log = recordingLogger();
    logConfig(loadConfig({ yaml, env }) as LoadedConfig, log);
    return log.events.filter((event) => event.level === level).map(({ fields }) => fields);
  }
});

describe("the kinds that stages work with", () => {
  it("are awaited until the server serves them", async () => {
    const clock = new ManualClock();
    const server = { isServing: false };
    const client = slowToServe(testCluster({ clock, random: systemRandom() }).client(), server);
    let isPrepared = false;
    const preparing = prepare(client, [], { log: recordingLogger(), clock }).then(() => {
      isPrepared = true;
    });

    await clock.advance(1_000);
    expect(isPrepared).toBe(false);

    server.isServing = true;
    await clock.advance(1_000);
    await preparing;
    expect(isPrepared).toBe(true);
  });

  it("are an error if the server does not serve them in time", async () => {
    const clock = new ManualClock();
    const client = slowToServe(testCluster({ clock, random: systemRandom() }).client(), { isServing: false });

    const preparing = prepare(client, [], { log: recordingLogger(), clock });

    const outcome = expect(preparing).rejects.toThrow(/does not serve \S+\.kubernaut\.ai yet/);
    await clock.advance(60_000);
    await outcome;
  });
});

/** As a real API server: a definition is established some time after it was created. */
function slowToServe(client: KubeClient, server: { readonly isServing: boolean }): KubeClient {
  return {
    ...client,
    async get(type, ref, call) {
      const found = await client.get(type, ref, call);
      return found && type.plural === "customresourcedefinitions" && !server.isServing
        ? { ...found, status: undefined }
        : found;
    },
  };
}
