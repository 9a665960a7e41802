import { describe, expect, it } from "vitest";
import type { Verb } from "../../../test/doubles/checked-client.ts";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import type { KubeClient, KubeObject, ResourceType } from "../../kube/index.ts";
import { systemRandom } from "../../time/index.ts";
import { keyName, keyOf } from "../key.ts";
import { watermarksContract } from "../watermarks/watermarks.contract.ts";
import { openWatermark } from "../watermarks/watermarks.ts";
import { kubernetesWatermarks } from "./kubernetes-watermarks.ts";

const namespace = "interlock";
const key = keyOf("gitlab", 42);
const ref = { namespace, name: `watermark-${keyName(key)}` };
const options = { from: "now", serverDate: new Date("2025-02-19T12:00:00Z") } as const;

watermarksContract("kubernetes, with a former namespace", async () => {
  const { cluster } = await setUpMove();
  return {
    connect: async () => kubernetesWatermarks(moveIn(cluster.client())),
    stop: async () => {},
  };
});

watermarksContract("kubernetes", async () => {
  const { cluster } = setUp();
  return {
    connect: async () => kubernetesWatermarks({ client: cluster.client(), namespace }),
    stop: async () => {},
  };
});

describe("watermarks in Kubernetes", () => {
  it("are ConfigMaps with their key in clear text", async () => {
    const { client, store } = setUp();

    await openWatermark(store, key, { ...options, fence: 7n });

    expect(await client.get(configMaps, ref)).toMatchObject({
      metadata: {
        labels: { "app.kubernetes.io/managed-by": "interlock", "kubernaut.ai/kind": "watermark" },
        annotations: { "kubernaut.ai/key": "gitlab:42" },
      },
      data: { updatedAt: "2025-02-19T12:00:00.000Z", fence: "7" },
    });
  });

  it("are a collision if the object belongs to another key", async () => {
    const { client, store } = setUp();
    await client.create(configMaps, { metadata: { ...ref, annotations: { "kubernaut.ai/key": "another" } } });

    await expect(openWatermark(store, key, options)).rejects.toMatchObject({ code: "collision" });
  });

  it("are an error, not a new beginning, when the object was emptied", async () => {
    const { client, store } = setUp();
    await openWatermark(store, key, options);
    await client.patch(configMaps, ref, { merge: { data: null } });

    await expect(openWatermark(store, key, options)).rejects.toMatchObject({ code: "collision" });
  });

  it.each<Verb>(["get", "create"])("without the right to %s are an error that names the verb", async (verb) => {
    const { cluster, store } = setUp();
    cluster.forbid(verb, "configmaps");

    await expect(openWatermark(store, key, options)).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining(`cannot ${verb} resource "configmaps"`),
    });
  });
});

describe("watermarks that an earlier version kept in another namespace", () => {
  const later = new Date("2025-02-20T12:00:00Z");

  it("are copied with cursor and fence, and do not start at now again", async () => {
    const { client, former, moved } = await setUpMove();
    await openWatermark(former, key, { ...options, fence: 7n });

    const opened = await openWatermark(moved, key, { from: "now", serverDate: later, fence: 8n });

    expect(opened.record).toMatchObject({ cursor: { updatedAt: "2025-02-19T12:00:00.000Z" }, fence: 7n });
    expect(await client.get(configMaps, { ...ref, namespace: ownNamespace })).toMatchObject({
      metadata: { labels: { "kubernaut.ai/kind": "watermark" }, annotations: { "kubernaut.ai/key": "gitlab:42" } },
      data: { updatedAt: "2025-02-19T12:00:00.000Z", fence: "7" },
    });
  });

  it("still reject a poller with a smaller fence", async () => {
    const { former, moved } = await setUpMove();
    await openWatermark(former, key, { ...options, fence: 7n });

    await expect(openWatermark(moved, key, { ...options, fence: 6n })).rejects.toMatchObject({ code: "lost" });
  });

  it("are then read only in the new namespace, and not written in the old one", async () => {
    const { client, cluster, former, moved } = await setUpMove();
    await openWatermark(former, key, options);
    const before = await client.get(configMaps, ref);
    const opened = await openWatermark(moved, key, options);
    await opened.advance([], later);
    await client.delete(configMaps, ref);

    const again = await openWatermark(kubernetesWatermarks(moveIn(cluster.client())), key, options);

    expect(before?.data).toMatchObject({ updatedAt: "2025-02-19T12:00:00.000Z" });
    expect(again.record.cursor.updatedAt).toBe("2025-02-20T11:59:00.000Z");
  });

  it("are copied once when two replicas open them at the same time", async () => {
    const { cluster, former } = await setUpMove();
    await openWatermark(former, key, { ...options, fence: 7n });
    const replicas = [1, 2, 3].map(() => kubernetesWatermarks(moveIn(cluster.client())));

    const opened = await Promise.all(replicas.map((store) => openWatermark(store, key, { ...options, fence: 7n })));

    const records = opened.map(({ record }) => record);
    expect(records).toEqual([records[0], records[0], records[0]]);
  });

  it("are not mistaken for absent by a write that expects none", async () => {
    const { former, moved } = await setUpMove();
    await openWatermark(former, key, options);

    const outcome = await moved.write(key, { cursor: { updatedAt: later.toISOString() }, fence: 0n }, "absent");

    expect(outcome).toMatchObject({ kind: "conflict", current: { cursor: { updatedAt: "2025-02-19T12:00:00.000Z" } } });
  });

  it("are an error, not a new beginning, when the old namespace may not be read", async () => {
    const { cluster, moved } = await setUpMove();
    cluster.forbid("get", "configmaps");

    await expect(openWatermark(moved, key, options)).rejects.toMatchObject({ code: "forbidden" });
  });
});

const ownNamespace = "interlock-watermarks";

function moveIn(client: KubeClient) {
  return { client, namespace: ownNamespace, formerNamespace: namespace };
}

async function setUpMove() {
  const cluster = testCluster({
    clock: new ManualClock(),
    random: systemRandom(),
    namespaces: [namespace, ownNamespace],
  });
  const client = cluster.client();
  const former = kubernetesWatermarks({ client, namespace });
  return { cluster, client, former, moved: kubernetesWatermarks(moveIn(client)) };
}

const configMaps: ResourceType<KubeObject & { readonly data?: Record<string, string> }> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

function setUp() {
  const cluster = testCluster({ clock: new ManualClock(), random: systemRandom(), namespaces: [namespace] });
  const client = cluster.client();
  return { cluster, client, store: kubernetesWatermarks({ client, namespace }) };
}
