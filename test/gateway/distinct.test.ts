import { beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../src/gateway/index.ts";
import type { Signal } from "../../src/resources/index.ts";
import { GatewayWorld, resolved, signal } from "./gateway-world.ts";

describe.each([
  ["short", 0],
  ["large", 1_000],
])("alerts with %s labels that differ in one label on which their rule acts", (_how, length) => {
  let world: GatewayWorld;
  /** The current rules' labels. */
  let labels: readonly string[];
  let gateway: Gateway;

  beforeEach(async () => {
    world = await GatewayWorld.open();
    labels = ["mountpoint"];
    gateway = await world.gateway({ ruleLabels: () => labels });
  });

  it("are two incidents: /var and /data of one node", async () => {
    await gateway.admit(full("/var"));
    await gateway.admit(full("/data"));
    await gateway.admit(full("/var"));

    const counts = (await world.incidents()).map(({ spec, status }) => [
      spec.signalLabels?.["mountpoint"],
      status?.deduplication?.occurrenceCount,
    ]);
    expect(counts.sort()).toEqual([
      ["/data", 1],
      ["/var", 2],
    ]);
  });

  it("are one incident if the rule does not act on it", async () => {
    labels = [];
    await gateway.admit(full("/var"));
    await gateway.admit(full("/data"));

    expect((await world.only()).status?.deduplication?.occurrenceCount).toBe(2);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ["begins to act on it", [], ["mountpoint"]],
    ["ceases to act on it", ["mountpoint"], []],
    ["acts on another label", ["mountpoint"], ["device"]],
  ])("stay with their open incidents when the rule %s, and end them", async (_what, before, after) => {
    labels = before;
    await gateway.admit(full("/var"));
    await gateway.admit(full("/data"));
    const open = (await world.incidents()).map(({ metadata }) => metadata.name);

    labels = after;
    await world.settle();
    for (const mountpoint of ["/var", "/data"]) {
      expect((await gateway.admit(full(mountpoint))).kind).toBe("counted");
      await gateway.admit(resolved({ ...full(mountpoint), status: "resolved", endedAt: "2026-11-15T07:00:00.000Z" }));
    }

    const incidents = await world.incidents();
    expect(incidents.map(({ metadata }) => metadata.name)).toEqual(open);
    for (const { status } of incidents) expect(status?.resolvedAt).toBe("2026-11-15T07:00:00.000Z");
  });

  it("are found under the new identity once the incident of the former one is closed", async () => {
    labels = [];
    await gateway.admit(full("/var"));
    labels = ["mountpoint"];
    await world.close(await world.only());
    await world.settle();

    expect((await gateway.admit(full("/var"))).kind).toBe("created");
    expect((await gateway.admit(full("/data"))).kind).toBe("created");
    expect(await world.incidents()).toHaveLength(3);
  });

  it("move to the new identity if the incident of the former one is closed before a count is written", async () => {
    labels = [];
    await gateway.admit(full("/var"));
    labels = ["mountpoint"];
    const logging = await world.gateway({ ruleLabels: () => labels, occurrenceLog: await world.occurrenceLog() });
    expect((await logging.admit(full("/var"))).kind).toBe("counted");
    const before = await world.only();
    await world.close(before);
    await world.flush();
    await world.flush();

    const [, after, ...others] = await world.incidents();
    expect(others).toEqual([]);
    expect(after?.spec.signalFingerprint).not.toBe(before.spec.signalFingerprint);
  });

  it("open no incident under the new identity if they had ended under the former one", async () => {
    labels = [];
    await gateway.admit(full("/var"));
    labels = ["mountpoint"];
    const end = { status: "resolved", endedAt: "2026-11-15T07:00:00.000Z" } as const;
    await gateway.admit(resolved({ ...full("/var"), ...end }));
    await world.close(await world.only());
    await world.settle();

    expect((await gateway.admit(full("/var"))).kind).toBe("ignored");
    expect(await world.incidents()).toHaveLength(1);
  });

  function full(mountpoint: string): Signal {
    const text = mountpoint.repeat(length / mountpoint.length);
    return signal({ series: mountpoint, labels: { node: "worker-1", mountpoint, device: `disk${mountpoint}`, text } });
  }
});
