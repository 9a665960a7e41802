import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keyOf, memoryWatermarks } from "../../src/coordination/index.ts";
import {
  type KubeClient,
  type KubeEvent,
  type KubeObject,
  kubeEvents,
  type ResourceType,
} from "../../src/kube/index.ts";
import type { Signal } from "../../src/resources/index.ts";
import { followKubernetes } from "../../src/sources/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { GatewayWorld } from "./gateway-world.ts";

const pods: ResourceType = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };
const nodes: ResourceType = { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false };

describe("the watch of Kubernetes", () => {
  let world: GatewayWorld;
  let stop: AbortController;
  let watermarks = memoryWatermarks();
  let signals: Signal[];
  let isDown: boolean;
  let rejected: string | undefined;
  let sink: (signal: Signal) => Promise<unknown>;

  beforeEach(async () => {
    world = await GatewayWorld.open();
    watermarks = memoryWatermarks();
    signals = [];
    isDown = false;
    rejected = undefined;
    sink = async (signal) => {
      if (isDown || (rejected && eventName(signal) === rejected)) throw new Error("not now");
      signals.push(signal);
    };
    void follow();
    await pass(0);
  });

  afterEach(async () => {
    stop.abort();
    await pass(3_000);
  });

  it("reports a listed warning, once for each occurrence", async () => {
    await event("a", { reason: "BackOff" });
    await event("b", { reason: "Whatever" });
    await event("c", { reason: "BackOff", type: "Normal" });
    await pass(1_000);
    expect(signals).toMatchObject([
      { source: "kubernetes-events", name: "BackOff", subject: { kind: "Pod", name: "api-1" } },
    ]);

    await world.client.patch(
      kubeEvents,
      { namespace: "payment", name: "a" },
      { merge: { metadata: { labels: { x: "y" } } } },
    );
    await pass(1_000);
    expect(signals).toHaveLength(1);

    const again = { count: 2, lastTimestamp: now() };
    await world.client.patch(kubeEvents, { namespace: "payment", name: "a" }, { merge: again });
    await pass(1_000);
    expect(signals).toHaveLength(2);
  });

  it.each([
    ["the node of its Pod", "Pod", "api-1", "worker-1", { node: "worker-1" }],
    ["a node on which its Pod does not run", "Pod", "api-1", "worker-2", {}],
    ["a node for a Pod that does not exist", "Pod", "gone", "worker-1", {}],
    ["a node for an object that runs on none", "Service", "api-1", "worker-1", {}],
  ])("has the label node only if it is where the object runs: %s", async (_what, kind, name, host, labels) => {
    const spec = { nodeName: "worker-1", containers: [{ name: "a", image: "a" }] };
    await world.object(pods, { metadata: { name: "api-1", namespace: "payment" }, spec } as KubeObject);

    const involvedObject = { apiVersion: "v1", kind, name, namespace: "payment" };
    await event("a", { reason: "BackOff", involvedObject, source: { host } });
    await pass(1_000);

    expect(signals.map((signal) => signal.labels)).toEqual([labels]);
  });

  it("reports a rejected signal again", async () => {
    isDown = true;
    await event("a", { reason: "BackOff" });
    await pass(1_000);
    expect(signals).toEqual([]);

    isDown = false;
    await pass(60_000);

    expect(signals).toHaveLength(1);
  });

  it("continues after a restart, and reports nothing twice that is older than the overlap", async () => {
    await event("a", { reason: "BackOff" });
    await pass(60_000);
    stop.abort();
    await pass(3_000);
    await event("b", { reason: "BackOff" });
    signals = [];

    void follow();
    await pass(1_000);

    expect(reported()).toEqual(["b"]);
  });

  it("reports an Event after a restart whose signal was rejected, if another one of the same second was admitted", async () => {
    rejected = "b";
    await events(["a", "b"], { reason: "BackOff" });
    await pass(60_000);
    stop.abort();
    await pass(3_000);
    expect(reported()).toEqual(["a"]);
    rejected = undefined;

    void follow();
    await pass(1_000);

    expect(reported()).toContain("b");
  });

  it.each([
    ["is not counted again while its incident is open", false],
    ["opens no other incident if its incident is closed", true],
  ])("reports an Event again that happened right before a restart: it %s", async (_what, isClosed) => {
    const gateway = await world.gateway();
    const admissions: string[] = [];
    sink = async (signal) => admissions.push((await gateway.admit(signal)).kind);
    await event("a", { reason: "BackOff" });
    await pass(3_000);
    if (isClosed) await world.close(await world.only());
    stop.abort();
    await pass(3_000);

    void follow();
    await pass(3_000);

    expect(admissions).toEqual(["created", "ignored"]);
    expect((await world.only()).status?.deduplication?.occurrenceCount).toBe(1);
  });

  it("leaves no watch open when another replica has taken over", async () => {
    stop.abort();
    await pass(3_000);
    let open = 0;
    const { watch } = world.client;
    const counting: KubeClient = {
      ...world.client,
      async *watch(type, query, call) {
        open++;
        try {
          yield* watch(type, query, call);
        } finally {
          open--;
        }
      },
    };
    const ended = follow(counting);
    await pass(1_000);
    expect(open).toBe(2);
    const key = keyOf("kubernetes-events");
    const record = await watermarks.read(key);
    const cursor = { updatedAt: now() };
    await watermarks.write(key, { cursor, fence: 5n }, record?.revision ?? "absent");

    await event("a", { reason: "BackOff" });
    await pass(30_000);

    await ended;
    expect(open).toBe(0);
  });

  it("reports a node again that was removed and came back", async () => {
    const since = now();
    const add = () => world.object(nodes, { metadata: { name: "worker-1" } });
    const setNotReady = () => {
      const conditions = [{ type: "Ready", status: "False", lastTransitionTime: since }];
      const status = { merge: { status: { conditions } } };
      return world.client.patch(nodes, { name: "worker-1" }, status, { subresource: "status" });
    };
    await add();
    await setNotReady();
    await pass(1_000);

    await world.client.delete(nodes, { name: "worker-1" });
    await pass(1_000);
    await add();
    await setNotReady();
    await pass(1_000);

    expect(signals.map(({ name }) => name)).toEqual(["NodeNotReady", "NodeNotReady"]);
  });

  it("reports each change of the conditions of a node", async () => {
    await world.object(nodes, { metadata: { name: "worker-1" } });
    const condition = (type: string, status: string) =>
      world.client.patch(
        nodes,
        { name: "worker-1" },
        { merge: { status: { conditions: [{ type, status, lastTransitionTime: now(), message: "so it is" }] } } },
        { subresource: "status" },
      );

    await condition("DiskPressure", "True");
    await pass(1_000);
    await world.label(nodes, "worker-1", { heartbeat: "1" });
    await pass(1_000);
    await condition("DiskPressure", "False");
    await pass(1_000);
    await condition("Ready", "Unknown");
    await pass(1_000);

    expect(signals.map(({ name, status, subject }) => [name, status, subject?.name])).toEqual([
      ["NodeDiskPressure", "firing", "worker-1"],
      ["NodeDiskPressure", "resolved", "worker-1"],
      ["NodeNotReady", "firing", "worker-1"],
    ]);
    expect(signals[1]?.series).toBe(signals[0]?.series);
  });

  function follow(client = world.client) {
    stop = new AbortController();
    const { clock, log } = world;
    const reasons = ["BackOff"];
    return followKubernetes({
      client,
      clock,
      log,
      random: systemRandom(),
      reasons,
      sink: (signal) => sink(signal),
      watermarks,
      overlapMs: 10_000,
      fence: 0n,
      signal: stop.signal,
    });
  }

  async function pass(ms: number) {
    await world.clock.advance(ms);
    await world.settle();
  }

  const now = () => new Date(world.clock.wallMs()).toISOString().replace(/\.\d+Z/, "Z");

  const eventName = ({ payload }: Signal) => (payload as KubeObject).metadata?.name;
  const reported = () => signals.map(eventName);

  function event(name: string, change: EventChange) {
    return events([name], change);
  }

  /** Events of one second. */
  async function events(names: readonly string[], change: EventChange) {
    await pass(2_000);
    for (const name of names) await create(name, change);
  }

  async function create(name: string, change: EventChange) {
    await world.client.create(kubeEvents, {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace: "payment" },
      involvedObject: { apiVersion: "v1", kind: "Pod", name: "api-1", namespace: "payment", uid: "u" },
      type: "Warning",
      message: "again and again",
      source: { component: "kubelet" },
      firstTimestamp: now(),
      lastTimestamp: now(),
      count: 1,
      ...change,
    } as KubeEvent);
  }
});

type EventChange = { readonly reason: string } & Readonly<Record<string, unknown>>;
