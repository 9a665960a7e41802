import { beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../src/gateway/index.ts";
import type { Signal } from "../../src/resources/index.ts";
import { GatewayWorld, resolved, signal } from "./gateway-world.ts";

describe.each([
  ["counts in the status", false],
  ["keeps an occurrence log", true],
])("an incident with more series than caches keep, at a gateway that %s", (_how, keepsLog) => {
  const count = 10;
  let world: GatewayWorld;
  let gateway: Gateway;

  beforeEach(async () => {
    world = await GatewayWorld.open();
    gateway = await world.gateway(keepsLog ? { occurrenceLog: await world.occurrenceLog() } : {});
    for (let i = 0; i < count; i++) await gateway.admit(firing(i));
    await world.flush();
  });

  it("keeps all of them when more signals are counted", async () => {
    await gateway.admitAll([firing(0), firing(1)]);
    await world.flush();

    const { deduplication } = (await world.only()).status ?? {};
    expect(deduplication?.occurrenceCount).toBe(count + 2);
    expect(Object.values(deduplication?.series ?? {}).map(({ labels }) => labels?.["pod"])).toHaveLength(count);
  });

  it("is resolved when the last of them has ended", async () => {
    for (let i = 1; i < count; i++) {
      expect((await gateway.admit(ended(i))).kind).toBe("still-firing");
    }

    expect((await gateway.admit(ended(0))).kind).toBe("resolved");
    const { deduplication, resolvedAt } = (await world.only()).status ?? {};
    expect(resolvedAt).toBeDefined();
    expect(Object.keys(deduplication?.series ?? {})).toHaveLength(count);
  });

  it("ignores a late report of one that has ended, and counts the others, also after a restart", async () => {
    await gateway.admit(ended(3));
    await gateway.stop();
    gateway = await world.gateway();

    const [late, other] = await gateway.admitAll([firing(3), firing(4)]);

    expect([late?.kind, other?.kind]).toEqual(["ignored", "counted"]);
    expect((await gateway.admit(firing(3, "2026-11-15T08:00:00.000Z"))).kind).toBe("counted");
  });

  it("is not followed by another for a late report after it is closed", async () => {
    for (let i = 0; i < count; i++) await gateway.admit(ended(i));
    await world.close(await world.only());
    await world.settle();

    expect((await gateway.admit(firing(3))).kind).toBe("ignored");
    expect((await gateway.admit(firing(3, "2026-11-15T08:00:00.000Z"))).kind).toBe("created");
  });

  function firing(i: number, firingAt = "2026-11-15T06:00:00.000Z"): Signal {
    const pod = `api-${i}-${"x".repeat(200)}`;
    return signal({ series: `series-${i}`, firingAt, labels: { node: "worker-1", pod } });
  }

  function ended(i: number): Signal {
    return resolved({ ...firing(i), status: "resolved", endedAt: "2026-11-15T07:00:00.000Z" });
  }
});
