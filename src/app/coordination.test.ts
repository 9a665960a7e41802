import { describe, expect, it } from "vitest";
import { ManualClock, settle } from "../../test/doubles/manual-clock.ts";
import { type RecordingLogger, recordingLogger } from "../../test/doubles/recording-logger.ts";
import { testCluster } from "../../test/doubles/test-cluster.ts";
import { startRedis } from "../../test/services/redis.ts";
import { loadConfig } from "../config/index.ts";
import { keyOf, openWatermark } from "../coordination/index.ts";
import { leases } from "../kube/index.ts";
import { promMetrics } from "../telemetry/index.ts";
import { type Clock, systemClock, systemRandom } from "../time/index.ts";
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

  it("logs what a restart loses, and that a change migrates nothing", async () => {
    const { coordination, log } = await open({ STATE_BACKEND: "memory" });

    const logged = JSON.stringify(log.events);
    expect(logged).toContain("restart");
    expect(logged).toContain("migrates nothing");
    await coordination.close();
  });

  it("may use another backend for locks", async () => {
    const { coordination } = await open({ STATE_BACKEND: "memory", LOCKS_BACKEND: "kubernetes" });

    expect(coordination.locks.guarantee).toBe("consensus");
    expect(coordination.claims.guarantee).toBe("process");
    await coordination.close();
  });

  it("fails at start if Redis does not respond, without the password in the error", async () => {
    const log = recordingLogger();
    const opening = open({ STATE_BACKEND: "redis", REDIS_URL: "redis://user:hunter2@127.0.0.1:1" }, { log });

    await expect(opening).rejects.toThrow(/^Redis cannot be used \((?!.*hunter2).*\): bring it back, or set another/);
    expect(JSON.stringify(log.events)).not.toContain("hunter2");
  });
});

describe("the setting", () => {
  it("locks.ttl sets how long a lock outlives its holder", async () => {
    const { coordination } = await open({ STATE_BACKEND: "kubernetes" }, { yaml: "locks:\n  ttl: 11s\n" });

    const lease = await coordination.locks.acquire(keyOf("a"));

    expect(lease.remainingMs()).toBeGreaterThan(10_000);
    expect(lease.remainingMs()).toBeLessThanOrEqual(11_000);
    await coordination.close();
  });

  it("locks.wait limits the wait for a lock", async () => {
    const clock = new ManualClock();
    const { coordination } = await open({ STATE_BACKEND: "memory" }, { yaml: "locks:\n  wait: 3s\n", clock });
    await coordination.locks.acquire(keyOf("a"));
    const waiting = coordination.locks.acquire(keyOf("a")).catch((error: Error) => error.message);

    await clock.advance(2_999);
    expect(await Promise.race([waiting, settle().then(() => "waits")])).toBe("waits");
    await clock.advance(1);

    expect(await waiting).toContain("3000 ms");
    await coordination.close();
  });

  it("locks.namespace sets the namespace of Leases", async () => {
    const { coordination, kube } = await open(
      { STATE_BACKEND: "kubernetes" },
      { yaml: "locks:\n  namespace: other\n" },
    );

    await coordination.locks.acquire(keyOf("a"));

    expect((await kube.list(leases, { namespace: "other" })).items).toHaveLength(1);
    await coordination.close();
  });

  it("claims.lease sets how long a claim outlives its holder", async () => {
    const { coordination } = await open({ STATE_BACKEND: "memory" }, { yaml: "claims:\n  lease: 5s\n" });

    const claim = await coordination.claims.claim(keyOf("a"));

    expect(claim.state === "new" && claim.remainingMs()).toBeGreaterThan(4_000);
    expect(claim.state === "new" && claim.remainingMs()).toBeLessThanOrEqual(5_000);
    await coordination.close();
  });

  it("claims.doneTtl sets how long a done claim is kept", async () => {
    const clock = new ManualClock();
    const { coordination } = await open({ STATE_BACKEND: "memory" }, { yaml: "claims:\n  doneTtl: 20s\n", clock });
    const { claims } = coordination;
    const claim = await claims.claim(keyOf("a"));
    if (claim.state === "new") await claim.complete();

    await clock.advance(19_999);
    expect((await claims.claim(keyOf("a"))).state).toBe("done");
    await clock.advance(1);

    expect((await claims.claim(keyOf("a"))).state).toBe("new");
    await coordination.close();
  });

  it("claims.memoryEntries limits the claims in memory", async () => {
    const { coordination } = await open({ STATE_BACKEND: "memory" }, { yaml: "claims:\n  memoryEntries: 1\n" });
    const { claims } = coordination;
    for (const key of ["a", "b"]) {
      const claim = await claims.claim(keyOf(key));
      if (claim.state === "new") await claim.complete();
    }

    expect([(await claims.claim(keyOf("b"))).state, (await claims.claim(keyOf("a"))).state]).toEqual(["done", "new"]);
    await coordination.close();
  });
});

interface Special {
  readonly log?: RecordingLogger;
  readonly yaml?: string;
  readonly clock?: Clock;
}

async function open(
  env: Record<string, string>,
  { log = recordingLogger(), yaml, clock = systemClock() }: Special = {},
) {
  const loaded = loadConfig({ env, ...(yaml && { yaml: { path: "interlock.yaml", text: yaml } }) });
  if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
  const random = systemRandom();
  const metrics = promMetrics();
  const kube = testCluster({
    clock,
    random,
    namespaces: ["kubernaut-system", "other", "interlock-watermarks"],
  }).client();
  const coordination = await openCoordination({ loaded, stage: "gateway", clock, random, log, metrics, client: kube });
  return { coordination, log, metrics, kube };
}
