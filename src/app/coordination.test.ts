import { describe, expect, it } from "vitest";
import { recordingLogger } from "../../test/doubles/recording-logger.ts";
import { testCluster } from "../../test/doubles/test-cluster.ts";
import { startRedis } from "../../test/services/redis.ts";
import { loadConfig } from "../config/index.ts";
import { keyOf, openWatermark } from "../coordination/index.ts";
import { promMetrics } from "../telemetry/index.ts";
import { systemClock, systemRandom } from "../time/index.ts";
import { openCoordination } from "./coordination.ts";

describe("coordination as configured", () => {
  it.each(["memory", "redis", "kubernetes"])("works on the %s backend and closes", async (backend) => {
    await using redis = await startRedis({ persistence: "always" });
    const { coordination, metrics } = await open({ STATE_BACKEND: backend, REDIS_URL: redis.url });
    const { locks, claims, watermarks } = coordination;

    const lease = await locks.acquire(keyOf("a"));
    const claim = await claims.claim(keyOf("b"));
    const serverDate = new Date("2026-01-01T00:00:00Z");
    const watermark = await openWatermark(watermarks, keyOf("c"), { from: "now", serverDate });

    expect(lease.remainingMs()).toBeGreaterThan(0);
    expect(claim.state).toBe("new");
    expect(watermark.record.cursor.updatedAt).toBe("2026-01-01T00:00:00.000Z");
    expect(await metrics.text()).toContain("gateway_lock_acquisition_successes_total 1");
    await coordination.close();
    expect(lease.signal.aborted).toBe(true);
  });

  it("says in the log what a restart forgets, and that a change migrates nothing", async () => {
    const { coordination, log } = await open({ STATE_BACKEND: "memory" });

    const said = JSON.stringify(log.events);
    expect(said).toContain("restart");
    expect(said).toContain("migrates nothing");
    await coordination.close();
  });

  it("may keep locks elsewhere than the rest", async () => {
    const { coordination } = await open({ STATE_BACKEND: "memory", LOCKS_BACKEND: "kubernetes" });

    expect(coordination.locks.guarantee).toBe("consensus");
    expect(coordination.claims.guarantee).toBe("process");
    await coordination.close();
  });

  it("fails at start when Redis is not there, without telling the password", async () => {
    const log = recordingLogger();
    const opening = open({ STATE_BACKEND: "redis", REDIS_URL: "redis://user:hunter2@127.0.0.1:1" }, log);

    await expect(opening).rejects.toThrow();
    expect(JSON.stringify(log.events)).not.toContain("hunter2");
  });
});

async function open(env: Record<string, string>, log = recordingLogger()) {
  const loaded = loadConfig({ env });
  if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
  const clock = systemClock();
  const random = systemRandom();
  const metrics = promMetrics();
  const kube = testCluster({ clock, random, namespaces: ["kubernaut-system"] }).client();
  const coordination = await openCoordination({ loaded, stage: "gateway", clock, random, log, metrics, kube });
  return { coordination, log, metrics };
}
