import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import type { Verb } from "../../kube/embedded/embedded-client.ts";
import type { KubeObject, ResourceType } from "../../kube/index.ts";
import { systemRandom } from "../../time/index.ts";
import { keyOf, nameOf } from "../key.ts";
import { watermarksContract } from "../watermarks.contract.ts";
import { openWatermark } from "../watermarks.ts";
import { kubernetesWatermarks } from "./kubernetes-watermarks.ts";

const namespace = "interlock";
const key = keyOf("gitlab", 42);
const ref = { namespace, name: `watermark-${nameOf(key)}` };
const options = { from: "now", serverDate: new Date("2025-02-19T12:00:00Z") } as const;

watermarksContract("kubernetes", async () => {
  const { cluster } = setUp();
  return {
    connect: async () => kubernetesWatermarks({ client: cluster.client(), namespace }),
    stop: async () => {},
  };
});

describe("watermarks in Kubernetes", () => {
  it("are ConfigMaps that say in clear what they are about", async () => {
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

  it("do not mistake another key's object for their own", async () => {
    const { client, store } = setUp();
    await client.create(configMaps, { metadata: { ...ref, annotations: { "kubernaut.ai/key": "another" } } });

    await expect(openWatermark(store, key, options)).rejects.toMatchObject({ code: "collision" });
  });

  it("are an error, not a new beginning, when somebody emptied the object", async () => {
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
