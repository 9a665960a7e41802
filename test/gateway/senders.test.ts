import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { Signal } from "../../src/resources/index.ts";
import { GatewayWorld, resolved, settings, signal } from "./gateway-world.ts";
import { type ServedGateway, servedGateway } from "./served-gateway.ts";

const generic = "/api/v1/signals";
const webhook = "/api/v1/signals/alertmanager";
const tokens =
  "am alertmanager-token-1 alertmanager\nscript generic-token-123456 generic\nwatch watchman-token-1234 watchman";
const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const am = as("alertmanager-token-1");
const script = as("generic-token-123456");

describe("a sender can report only its own source:", () => {
  let served: ServedGateway;
  afterEach(() => served.close());

  it("a token for generic cannot end or suppress an alert of Alertmanager", async () => {
    served = await servedGateway({ tokens });
    const alert = { status: "firing", labels: { alertname: "DiskFull", node: "worker-1" }, fingerprint: "a1" };
    const forged = { name: "DiskFull", target: "node/worker-1", source: "alertmanager", series: "a1" };
    const end = { ...forged, status: "resolved", endTime: "9999-12-31T00:00:00Z" };

    const before = await served.post(generic, end, script);
    const fired = await served.post(webhook, { version: "4", alerts: [alert] }, am);
    const during = await served.post(generic, end, script);

    expect([before.status, fired.status, during.status]).toEqual([403, 201, 403]);
    expect(before.body.problems).toEqual([expect.stringContaining('"alertmanager" is built in')]);
    const [incident] = await served.incidents();
    expect(incident?.status?.resolvedAt).toBeUndefined();
  });

  it("signals without a source, with a token for one source, are of that source", async () => {
    served = await servedGateway({ tokens });

    const { status } = await served.post(generic, { name: "X", target: "node/a" }, as("watchman-token-1234"));

    expect(status).toBe(201);
    expect((await served.incidents())[0]?.spec.signalSource).toBe("watchman");
  });

  it("a request that names a source of another sender is refused as a whole", async () => {
    served = await servedGateway({ tokens });
    const good = { name: "X", target: "node/a" };

    const { status } = await served.post(generic, [good, { ...good, source: "watchman" }], script);

    expect(status).toBe(403);
    expect(await served.incidents()).toEqual([]);
    expect(await served.metrics.text()).toContain('gateway_requests_turned_away_total{reason="not-allowed"} 1');
  });
});

describe("the times of a payload", () => {
  it("that ends in the future end now, and a later firing opens an incident", async () => {
    const world = await GatewayWorld.open();
    const gateway = await world.gateway();
    await gateway.admit(signal());
    await gateway.admit(resolved({ endedAt: "9999-12-31T00:00:00.000Z" }));
    const { status } = await world.only();
    expect(status?.resolvedAt).toBe(new Date(world.clock.wallMs()).toISOString());
    await world.close(await world.only());
    await world.settle();

    await world.clock.advance(1_000);
    const again = await gateway.admit(signal({ firingAt: now(world) }));

    expect(again.kind).toBe("created");
    await gateway.stop();
  });

  it("that begins in the future can be ended", async () => {
    const world = await GatewayWorld.open();
    const gateway = await world.gateway();
    await gateway.admit(signal({ firingAt: "9999-12-31T00:00:00.000Z" }));

    const ended = await gateway.admit(resolved({ endedAt: now(world) }));

    expect(ended.kind).toBe("resolved");
    await gateway.stop();
  });

  it("never suppress a later firing of a sender whose clock is behind, when the end has no time of its own", async () => {
    const world = await GatewayWorld.open();
    const gateway = await world.gateway();
    await gateway.admit(signal({ firingAt: "2026-11-15T11:00:00.000Z" }));
    await gateway.admit(withoutEnd(resolved({ firingAt: "2026-11-15T11:00:00.000Z" })));
    await world.close(await world.only());
    await world.settle();

    const late = await gateway.admit(signal({ firingAt: "2026-11-15T11:00:00.000Z" }));
    const newer = await gateway.admit(signal({ firingAt: "2026-11-15T11:00:01.000Z" }));

    expect([late.kind, newer.kind]).toEqual(["ignored", "created"]);
    await gateway.stop();
  });

  it("never suppress a newer firing, regardless of earlier signals", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anySignal(), { maxLength: 12 }), fc.boolean(), async (before, closes) => {
        const world = await GatewayWorld.open();
        const gateway = await world.gateway();
        for (const one of before) await gateway.admit(one).catch(() => {});
        if (closes) for (const incident of await world.incidents()) await world.close(incident);
        await world.settle();
        await world.clock.advance(1);

        const { kind } = await gateway.admit(signal({ firingAt: now(world) }));
        await world.flush();

        expect(["created", "counted"]).toContain(kind);
        const own = (await world.incidents()).filter(({ spec }) => spec.signalSource === "alertmanager");
        const open = own.filter(({ status }) => status?.phase !== "Completed");
        expect(open.map(({ status }) => status?.resolvedAt)).toEqual([undefined]);
        await gateway.stop();
      }),
      { numRuns: 25 },
    );
  });
});

describe("an incident that two sources report, with fingerprints without the source,", () => {
  it("is not ended by the source that did not open it", async () => {
    const world = await GatewayWorld.open();
    const gateway = await world.gateway({ settings: { ...settings, fingerprintFields: ["name", "target"] } });
    await gateway.admit(signal());

    const other = await gateway.admit(resolved({ source: "watchman" }));
    const own = await gateway.admit(resolved());

    expect([other.kind, own.kind]).toEqual(["still-firing", "resolved"]);
    await gateway.stop();
  });
});

function now(world: GatewayWorld): string {
  return new Date(world.clock.wallMs()).toISOString();
}

function withoutEnd({ endedAt: _, ...rest }: Signal): Signal {
  return rest;
}

/** Of the same alert, with times of any clock, and of other series and sources. */
function anySignal(): fc.Arbitrary<Signal> {
  const time = fc.constantFrom(
    "0001-01-01T00:00:00.000Z",
    "2026-11-15T06:00:00.000Z",
    "2026-11-15T12:00:00.000Z",
    "2026-11-15T12:00:01.000Z",
    "2026-11-16T00:00:00.000Z",
    "9999-12-31T23:59:59.999Z",
  );
  return fc
    .record({
      status: fc.constantFrom("firing" as const, "resolved" as const),
      source: fc.constantFrom("alertmanager", "generic"),
      series: fc.constantFrom("a1", "b2", ""),
      firingAt: time,
      endedAt: fc.option(time, { nil: undefined }),
    })
    .map(({ endedAt, ...change }) => signal({ ...change, ...(endedAt === undefined ? {} : { endedAt }) }));
}
