import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryWatermarks } from "../../src/coordination/index.ts";
import { type Gateway, startGateway } from "../../src/gateway/index.ts";
import { kubeEvents } from "../../src/kube/index.ts";
import type { Rule } from "../../src/policy/index.ts";
import { builtInKinds, fixedKinds, remediationRequests } from "../../src/resources/index.ts";
import { alertmanager, followKubernetes } from "../../src/sources/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { settings } from "../gateway/gateway-world.ts";
import { OrchestratorWorld } from "../orchestrator/orchestrator-world.ts";

const evictions: Rule = {
  name: "evictions-by-node",
  match: { signalName: ["Evicted", "KubePodEvicted"] },
  target: "node/{{ labels.node }}",
  workflow: "cleanup",
};
const podNames = Array.from({ length: 13 }, (_, i) => `api-${i}`);
const pods = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true } as const;

describe("thirteen evictions from one node, with the shipped roles enforced, are one run", () => {
  let world: OrchestratorWorld;
  let gateway: Gateway;
  let stop: AbortController;

  beforeEach(async () => {
    stop = new AbortController();
    world = await OrchestratorWorld.open();
    world.rules.set(evictions);
    await world.executor();
    await world.orchestrator();
    gateway = startGateway({
      client: permittedClient(world.client, "gateway"),
      locks: world.locks,
      ledger: world.ledger,
      kinds: fixedKinds(builtInKinds),
      writer: "gateway",
      settings,
      clock: world.clock,
      random: world.random,
      log: world.log,
      metrics: promMetrics(),
    });
    await world.settle();
  });
  afterEach(async () => {
    stop.abort();
    const stopped = gateway.stop();
    await world.passTime(3_000);
    await stopped;
    await world.close();
  });

  it("by alerts of Alertmanager", async () => {
    const labels = podNames.map((pod) => ({
      alertname: "KubePodEvicted",
      namespace: "default",
      pod,
      node: "worker-1",
    }));
    const body = { version: "4", status: "firing", alerts: labels.map((one) => ({ status: "firing", labels: one })) };

    const reading = alertmanager.read(body, world.nowAt());
    for (const one of reading.kind === "signals" ? reading.readings : []) {
      if (one.kind === "signal") await gateway.admit(one.signal);
    }

    await expectOneRun();
  });

  it("by Kubernetes Events", async () => {
    void followKubernetes({
      client: permittedClient(world.client, "gateway"),
      reasons: ["Evicted"],
      sink: (signal) => gateway.admit(signal),
      watermarks: memoryWatermarks(),
      overlapMs: 10_000,
      fence: 0n,
      clock: world.clock,
      random: world.random,
      log: world.log,
      signal: stop.signal,
    });
    await world.passTime(1_000);

    for (const name of podNames) {
      // The node of an Event counts only if its Pod runs there.
      await world.client.create(pods, {
        ...{ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" } },
        spec: { nodeName: "worker-1" },
      });
      await world.client.create(kubeEvents, {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: `${name}.evicted`, namespace: "default" },
        type: "Warning",
        reason: "Evicted",
        message: "The node was low on resource: ephemeral-storage.",
        involvedObject: { apiVersion: "v1", kind: "Pod", namespace: "default", name },
        source: { component: "kubelet", host: "worker-1" },
        firstTimestamp: eventTime(),
        lastTimestamp: eventTime(),
        count: 1,
      } as never);
    }
    await world.passTime(1_000);

    await expectOneRun();
  });

  async function expectOneRun() {
    await world.settle();
    await world.reportRun("True");
    const { items } = await world.client.list(remediationRequests);
    expect(items).toHaveLength(13);
    expect(items.map(({ status }) => status?.phase)).toEqual(podNames.map(() => "Verifying"));
    expect(items.filter(({ status }) => status?.follows)).toHaveLength(12);
    expect((await world.executions()).map(({ spec }) => spec.targetResource)).toEqual(["node/worker-1"]);
  }

  const eventTime = () => new Date(world.clock.wallMs()).toISOString().replace(/\.\d+Z/, "Z");
});
