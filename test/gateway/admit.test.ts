import { beforeEach, describe, expect, it } from "vitest";
import type { Locks } from "../../src/coordination/index.ts";
import { CoordinationError } from "../../src/coordination/index.ts";
import { KubeError, refOf } from "../../src/kube/index.ts";
import { incidentName, labelKeys, type RemediationRequest, remediationRequests } from "../../src/resources/index.ts";
import {
  cronJobs,
  deployments,
  GatewayWorld,
  jobs,
  namespaces,
  pods,
  replicaSets,
  resolved,
  settings,
  signal,
} from "./gateway-world.ts";

describe("a gateway", () => {
  let world: GatewayWorld;

  beforeEach(async () => {
    world = await GatewayWorld.open();
  });

  it("opens an incident for the first signal, with all its fields", async () => {
    const gateway = await world.gateway();

    const admission = await gateway.admit(signal());

    const incident = await world.only();
    expect(admission).toMatchObject({ kind: "created", incident: { metadata: { name: incident.metadata.name } } });
    expect(incident.metadata.name).toBe(incidentName(incident.spec.signalFingerprint, 1));
    expect(incident.spec).toMatchObject({
      signalName: "DiskFull",
      signalSource: "alertmanager",
      severity: "critical",
      targetResource: { kind: "Node", name: "worker-1" },
      firingTime: "2026-11-15T06:00:00.000Z",
      signalLabels: { node: "worker-1" },
      originalPayload: '{"labels":{"node":"worker-1"}}',
    });
    expect(incident.status).toMatchObject({ phase: "Pending", deduplication: { occurrenceCount: 1 } });
    expect(world.ledger.events().map(({ type }) => type)).toEqual(["incident.created", "signals.counted"]);
  });

  it("counts signals while the incident is open, and opens the next when it is closed", async () => {
    const gateway = await world.gateway();
    await gateway.admit(signal());

    expect((await gateway.admit(signal())).kind).toBe("counted");
    await world.close(await world.only());
    await world.settle();
    expect((await gateway.admit(signal())).kind).toBe("created");

    const counts = (await world.incidents()).map(({ metadata, status }) => [
      metadata.name?.slice(-2),
      status?.deduplication?.occurrenceCount,
    ]);
    expect(counts).toEqual([
      ["-1", 2],
      ["-2", 1],
    ]);
  });

  it.each([
    ["is open", false],
    ["is closed, too", true],
  ])("ignores an occurrence that an earlier incident has, if the next one %s", async (_what, isClosed) => {
    const gateway = await world.gateway();
    const occurrence = signal({ isOccurrence: true });
    await gateway.admit(occurrence);
    const first = await world.only();
    await world.close(first);
    await world.settle();
    const { incident: next } = (await gateway.admit(signal({ series: "b2" }))) as { incident: RemediationRequest };
    if (isClosed) await world.close(next);
    // As the orchestrator does.
    const merge = { metadata: { labels: { [labelKeys.latestOf]: null } } };
    await world.client.patch(remediationRequests, refOf(first), { merge });
    await world.settle();

    expect((await gateway.admit(occurrence)).kind).toBe("ignored");

    const counts = (await world.incidents()).map(({ status }) => status?.deduplication?.occurrenceCount);
    expect(counts).toEqual([1, 1]);
  });

  it("opens one incident for any number of signals at once, in any number of gateways", async () => {
    const gateways = await Promise.all([world.gateway(), world.gateway(), world.gateway()]);

    const admissions = Promise.all(
      Array.from({ length: 300 }, (_, i) => gateways[i % 3]?.admit(signal({ series: `s${i % 7}` }))),
    );
    for (let i = 0; i < 50; i++) await world.clock.advance(20);

    expect((await admissions).filter((admission) => admission?.kind === "created")).toHaveLength(1);
    const { status } = await world.only();
    expect(status?.deduplication?.occurrenceCount).toBe(300);
    expect(Object.values(status?.deduplication?.occurrencesByWriter ?? {})).toEqual([100, 100, 100]);
  });

  it("follows the series of an incident: their labels, and the highest severity of those that fire", async () => {
    const gateway = await world.gateway();
    const memory = { node: "worker-1", condition: "MemoryPressure" };
    const disk = { node: "worker-1", condition: "DiskPressure" };
    await gateway.admit(signal({ severity: "warning", labels: memory }));

    await gateway.admit(signal({ series: "disk", severity: "critical", labels: disk }));

    const { deduplication } = (await world.only()).status ?? {};
    expect(deduplication).toMatchObject({ severity: "critical", occurrenceCount: 2 });
    expect(Object.values(deduplication?.series ?? {})).toContainEqual(
      expect.objectContaining({ severity: "critical", labels: { condition: "DiskPressure" } }),
    );
    await gateway.admit(resolved({ series: "disk", severity: "critical", labels: disk }));
    expect((await world.only()).status?.deduplication?.severity).toBe("warning");
  });

  it("writes far less often than signals come", async () => {
    const { client, writes } = counting(world);
    const gateway = await world.gateway({ client });

    await Promise.all(Array.from({ length: 200 }, () => gateway.admit(signal())));

    expect((await world.only()).status?.deduplication?.occurrenceCount).toBe(200);
    expect(writes()).toBeLessThan(10);
  });

  it("reads the incidents again if an outdated list led to a name that exists", async () => {
    const first = await world.gateway();
    await first.admit(signal());
    const incident = await world.only();
    let lists = 0;
    const old = {
      ...world.client,
      list: (async (...call: Parameters<typeof world.client.list>) => {
        const answer = await world.client.list(...call);
        return call[0].kind === "RemediationRequest" && ++lists <= 2 ? { ...answer, items: [] } : answer;
      }) as typeof world.client.list,
      watch: () => world.client.watch(remediationRequests, { namespace: "nowhere", resourceVersion: "1" }) as never,
    };
    const second = await world.gateway({ client: old });

    const admission = await second.admit(signal());

    expect(admission).toMatchObject({ kind: "counted", incident: { metadata: { uid: incident.metadata.uid } } });
    expect((await world.only()).status?.deduplication?.occurrenceCount).toBe(2);
  });

  it("continues without the fingerprint's lock if it is not granted", async () => {
    const locks = {
      acquire: async () => {
        throw new CoordinationError("unavailable", "the lock server is down");
      },
    } as unknown as Locks;
    const gateway = await world.gateway({ locks });

    expect((await gateway.admit(signal())).kind).toBe("created");
    expect(world.log.events.map(({ event }) => event)).toContain("fingerprint lock not taken");
  });

  it("admits nothing while the API server is down, and opens the incident at the retry", async () => {
    let isDown = true;
    const client = {
      ...world.client,
      create: (async (...call: Parameters<typeof world.client.create>) => {
        if (isDown) throw new KubeError("unavailable", "connection refused");
        return world.client.create(...call);
      }) as typeof world.client.create,
    };
    const gateway = await world.gateway({ client });

    await expect(gateway.admit(signal())).rejects.toMatchObject({ code: "unavailable" });
    isDown = false;

    expect((await gateway.admit(signal())).kind).toBe("created");
    expect((await world.only()).status?.deduplication?.occurrenceCount).toBe(1);
  });

  it("rejects an unknown kind and deeply nested payloads, and creates nothing", async () => {
    const gateway = await world.gateway();

    expect(await gateway.admit(signal({ subject: { kind: "Widget", name: "a" } }))).toMatchObject({ kind: "invalid" });
    const payload = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
    expect(await gateway.admit(signal({ payload }))).toEqual({
      kind: "invalid",
      problems: ["the signal is nested too deeply"],
    });
    expect(await world.incidents()).toEqual([]);
  });

  it("separates incidents by the configured fingerprint fields", async () => {
    const gateway = await world.gateway({ settings: { ...settings, fingerprintFields: ["target"] } });
    await gateway.admit(signal());

    expect((await gateway.admit(signal({ name: "SomethingElse", source: "generic" }))).kind).toBe("counted");
  });

  describe("with scope by label", () => {
    const byLabel = { settings: { ...settings, scope: "labels" as const } };
    const podSignal = signal({ subject: { kind: "Pod", namespace: "payment", name: "api-1" } });
    const managed = { [labelKeys.managed]: "true" };
    const unmanaged = { [labelKeys.managed]: "false" };

    it("rejects a target out of scope, with the command that adds it", async () => {
      await world.object(pods, { metadata: { name: "api-1", namespace: "payment" } });
      await world.node("worker-1", {});
      const gateway = await world.gateway(byLabel);

      expect(await gateway.admit(podSignal)).toMatchObject({
        kind: "refused",
        because: "neither payment/pod/api-1 nor its namespace has the label kubernaut.ai/managed=true",
        fix: "kubectl label --namespace payment pod api-1 kubernaut.ai/managed=true --overwrite",
      });
      expect(await gateway.admit(signal())).toMatchObject({
        kind: "refused",
        because: "node/worker-1 is without the label kubernaut.ai/managed=true",
      });
      expect(await world.incidents()).toEqual([]);
      expect(world.ledger.events().map(({ type }) => type)).toEqual(["signal.refused", "signal.refused"]);
    });

    it("reports that a Node does not exist, not that it lacks a label", async () => {
      const gateway = await world.gateway(byLabel);

      expect(await gateway.admit(signal())).toMatchObject({
        kind: "refused",
        because: "no such node: node/worker-1 does not exist",
        fix: "kubectl get node, and correct the name worker-1 in the signal",
      });
    });

    it("reports that a Pod does not exist, with the command that puts its namespace in scope", async () => {
      const gateway = await world.gateway(byLabel);

      expect(await gateway.admit(podSignal)).toMatchObject({
        kind: "refused",
        because: "payment/pod/api-1 does not exist, and its namespace is without the label kubernaut.ai/managed=true",
        fix: "kubectl label namespace payment kubernaut.ai/managed=true --overwrite",
      });
    });

    it.each([
      ["its namespace", {}, managed, "created"],
      ["itself", managed, {}, "created"],
      ["itself, although its namespace is not", managed, unmanaged, "created"],
    ] as const)("accepts a target in scope by %s", async (_what, own, space, kind) => {
      await world.object(pods, { metadata: { name: "api-1", namespace: "payment", labels: own } });
      await world.label(namespaces, "payment", space);
      const gateway = await world.gateway(byLabel);

      expect((await gateway.admit(podSignal)).kind).toBe(kind);
    });

    it.each([
      ["the object", unmanaged, managed],
      ["the namespace", {}, unmanaged],
    ])("rejects a target that %s excludes", async (_what, own, space) => {
      await world.object(pods, { metadata: { name: "api-1", namespace: "payment", labels: own } });
      await world.label(namespaces, "payment", space);
      const gateway = await world.gateway(byLabel);

      expect(await gateway.admit(podSignal)).toMatchObject({
        kind: "refused",
        because: expect.stringContaining("=false"),
      });
    });
  });

  describe("for a signal about an object with an owner", () => {
    it("opens one incident for all Pods of a Deployment", async () => {
      await deployment(world, ["api-7d-1", "api-7d-2"]);
      const gateway = await world.gateway();

      await gateway.admit(about("api-7d-1"));
      await gateway.admit(about("api-7d-2"));

      const { spec, status, metadata } = await world.only();
      expect(spec.targetResource).toEqual({
        apiVersion: "apps/v1",
        kind: "Deployment",
        namespace: "payment",
        name: "api",
      });
      expect(status?.deduplication?.occurrenceCount).toBe(2);
      expect(metadata.annotations).toMatchObject({ "kubernaut.ai/subject": "payment/pod/api-7d-1" });
      const subjects = Object.values(status?.deduplication?.series ?? {}).map(({ subject }) => subject);
      expect(subjects).toEqual([undefined, "payment/pod/api-7d-2"]);
    });

    it("opens the incident for the CronJob of a Job", async () => {
      const { metadata } = await world.object(cronJobs, { metadata: { name: "nightly", namespace: "batch" } });
      const uid = metadata.uid ?? "";
      const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "nightly", uid, controller: true };
      await world.object(jobs, { metadata: { name: "nightly-1", namespace: "batch", ownerReferences: [owner] } });
      const gateway = await world.gateway();

      await gateway.admit(signal({ subject: { kind: "Job", namespace: "batch", name: "nightly-1" } }));

      expect((await world.only()).spec.targetResource).toMatchObject({ kind: "CronJob", name: "nightly" });
    });

    it("finds the owner of a deleted Pod, also after a restart", async () => {
      await deployment(world, ["api-7d-1"]);
      const first = await world.gateway();
      await first.admit(about("api-7d-1"));
      await world.client.delete(pods, { namespace: "payment", name: "api-7d-1" });

      const second = await world.gateway();
      expect((await second.admit(about("api-7d-1"))).kind).toBe("counted");
      expect((await second.admit(resolved({ ...about("api-7d-1"), status: "resolved" }))).kind).toBe("resolved");

      await world.only();
    });

    it("opens the incident for the Pod itself if it is deleted and no incident has its owner", async () => {
      const gateway = await world.gateway();

      await gateway.admit(about("api-7d-9"));

      expect((await world.only()).spec.targetResource).toEqual({ kind: "Pod", namespace: "payment", name: "api-7d-9" });
    });

    it("rejects the signal while the API server does not respond", async () => {
      const client = {
        ...world.client,
        get: (async (...call: Parameters<typeof world.client.get>) => {
          if (call[0].kind === "pod") throw new KubeError("unavailable", "no answer");
          return world.client.get(...call);
        }) as typeof world.client.get,
      };
      const gateway = await world.gateway({ client });

      await expect(gateway.admit(about("api-7d-1"))).rejects.toMatchObject({ code: "unavailable" });
      expect(await world.incidents()).toEqual([]);
    });
  });

  describe("for a resolved signal", () => {
    it("records the end in the incident, and opens nothing", async () => {
      const gateway = await world.gateway();
      await gateway.admit(signal());

      expect((await gateway.admit(resolved())).kind).toBe("resolved");

      expect((await world.only()).status).toMatchObject({ phase: "Pending", resolvedAt: "2026-11-15T06:10:00.000Z" });
    });

    it("opens nothing if there is no incident to end", async () => {
      const gateway = await world.gateway();

      expect((await gateway.admit(resolved())).kind).toBe("ignored");
      expect(await world.incidents()).toEqual([]);
    });

    it("resolves the incident only with the end of its last series", async () => {
      const gateway = await world.gateway();
      await gateway.admit(signal({ series: "a" }));
      await gateway.admit(signal({ series: "b" }));

      expect(await gateway.admit(resolved({ series: "a" }))).toMatchObject({ kind: "still-firing", others: 1 });
      expect((await world.only()).status).not.toHaveProperty("resolvedAt");
      expect((await gateway.admit(resolved({ series: "b" }))).kind).toBe("resolved");
    });

    it("ignores a firing signal that is not later, in either order of arrival", async () => {
      const gateway = await world.gateway();

      await gateway.admit(resolved());
      expect((await gateway.admit(signal())).kind).toBe("ignored");
      expect(await world.incidents()).toEqual([]);

      expect((await gateway.admit(signal({ firingAt: "2026-11-15T06:20:00.000Z" }))).kind).toBe("created");
    });

    it("stores the end in a closed incident, so that another gateway ignores late signals", async () => {
      const first = await world.gateway();
      await first.admit(signal());
      await world.close(await world.only());
      await world.settle();
      await first.admit(resolved());

      const second = await world.gateway();
      expect((await second.admit(signal())).kind).toBe("ignored");
      expect((await second.admit(signal({ firingAt: "2026-11-15T06:20:00.000Z" }))).kind).toBe("created");
    });

    it("removes the end when the series fires again before the incident is closed", async () => {
      const gateway = await world.gateway();
      await gateway.admit(signal());
      await gateway.admit(resolved());

      expect((await gateway.admit(signal({ firingAt: "2026-11-15T06:20:00.000Z" }))).kind).toBe("counted");

      expect((await world.only()).status).not.toHaveProperty("resolvedAt");
    });
  });
});

function counting(world: GatewayWorld) {
  let count = 0;
  const client = {
    ...world.client,
    create: ((...call) => ++count && world.client.create(...call)) as typeof world.client.create,
    patch: ((...call) => ++count && world.client.patch(...call)) as typeof world.client.patch,
  };
  return { client, writes: () => count };
}

function about(pod: string) {
  return signal({ subject: { kind: "Pod", namespace: "payment", name: pod }, series: pod });
}

/** A Deployment `api` and its Pods. */
async function deployment(world: GatewayWorld, names: readonly string[]) {
  const place = { namespace: "payment" };
  const owned = (apiVersion: string, kind: string, name: string, uid = "") => [
    { apiVersion, kind, name, uid, controller: true },
  ];
  const { metadata } = await world.object(deployments, { metadata: { name: "api", ...place } });
  const set = await world.object(replicaSets, {
    metadata: { name: "api-7d", ...place, ownerReferences: owned("apps/v1", "Deployment", "api", metadata.uid) },
  });
  for (const name of names) {
    await world.object(pods, {
      metadata: { name, ...place, ownerReferences: owned("apps/v1", "ReplicaSet", "api-7d", set.metadata.uid) },
    });
  }
}
