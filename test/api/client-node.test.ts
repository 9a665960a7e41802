import {
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  PatchStrategy,
  setHeaderOptions,
  V1MicroTime,
  Watch,
} from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { embeddedClient } from "../../src/apiserver/embedded-client.ts";
import { kubeconfigFor } from "../../src/apiserver/kubeconfig.ts";
import { selfSigned } from "../../src/apiserver/self-signed.ts";
import { installContractSamples } from "../../src/kube/client.contract.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { serverUnderTest, tokens } from "../conformance/server-under-test.ts";

const namespace = "default";
const samples = { group: "contract.interlock.dev", version: "v1", plural: "samples", namespace };
const mergePatch = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
const jsonPatch = setHeaderOptions("Content-Type", PatchStrategy.JsonPatch);
const strategicPatch = setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch);

describe.each(["http", "https"])("@kubernetes/client-node, as it is, over %s", (scheme) => {
  const config = new KubeConfig();
  let server: Awaited<ReturnType<typeof serverUnderTest>>;

  beforeAll(async () => {
    const tls = selfSigned(["127.0.0.1"], systemClock().wallMs(), systemRandom());
    server = await serverUnderTest(scheme === "https" ? { tls } : {});
    await installContractSamples(embeddedClient(server.api));
    const certificate = scheme === "https" ? { certificate: tls.certificate } : {};
    config.loadFromString(kubeconfigFor({ url: server.url, token: tokens.admin, ...certificate }));
  });

  afterAll(() => server.close());

  it("creates, reads, lists, replaces, patches and deletes objects of a built-in kind", async () => {
    const core = config.makeApiClient(CoreV1Api);
    const name = "settings";

    const created = await core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name, labels: { app: "web" } }, data: { a: "1" } },
    });
    const read = await core.readNamespacedConfigMap({ name, namespace });
    const listed = await core.listNamespacedConfigMap({ namespace, labelSelector: "app=web" });
    const replaced = await core.replaceNamespacedConfigMap({ name, namespace, body: { ...read, data: { a: "2" } } });
    const json = [{ op: "replace", path: "/data/a", value: "3" }];
    await core.patchNamespacedConfigMap({ name, namespace, body: json }, jsonPatch);
    await core.patchNamespacedConfigMap({ name, namespace, body: { data: { b: "4" } } }, mergePatch);
    const patched = await core.patchNamespacedConfigMap(
      { name, namespace, body: { data: { c: "5" } } },
      strategicPatch,
    );
    const deleted = await core.deleteNamespacedConfigMap({ name, namespace });

    expect(read).toEqual(created);
    expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date);
    expect(listed.items.map(({ metadata }) => metadata?.uid)).toEqual([created.metadata?.uid]);
    expect(replaced.data).toEqual({ a: "2" });
    expect(patched.data).toEqual({ a: "3", b: "4", c: "5" });
    expect(deleted.status).toBe("Success");
    await expect(core.readNamespacedConfigMap({ name, namespace })).rejects.toMatchObject({ code: 404 });
  });

  it("does the same with custom resources", async () => {
    const custom = config.makeApiClient(CustomObjectsApi);
    const body = {
      apiVersion: "contract.interlock.dev/v1",
      kind: "Sample",
      metadata: { name: "one" },
      spec: { size: 1 },
    };

    await custom.createNamespacedCustomObject({ ...samples, body });
    await custom.patchNamespacedCustomObject({ ...samples, name: "one", body: { spec: { size: 2 } } }, mergePatch);
    const status = { status: { phase: "Running" } };
    await custom.patchNamespacedCustomObjectStatus({ ...samples, name: "one", body: status }, mergePatch);
    const read = await custom.getNamespacedCustomObject({ ...samples, name: "one" });
    const listed = await custom.listNamespacedCustomObject(samples);
    await custom.deleteNamespacedCustomObject({ ...samples, name: "one" });

    expect(read).toMatchObject({ spec: { size: 2 }, status: { phase: "Running" } });
    expect(listed).toMatchObject({ kind: "SampleList", items: [{ metadata: { name: "one" } }] });
    await expect(custom.getNamespacedCustomObject({ ...samples, name: "one" })).rejects.toMatchObject({ code: 404 });
  });

  it("writes a Lease with a time in microseconds", async () => {
    const coordination = config.makeApiClient(CoordinationV1Api);
    const renewTime = new V1MicroTime("2026-11-15T12:00:00.000Z");

    const body = { metadata: { name: "lease" }, spec: { holderIdentity: "me", renewTime } };
    const created = await coordination.createNamespacedLease({ namespace, body });

    expect(Date.parse(String(created.spec?.renewTime))).toBe(renewTime.getTime());
  });

  it("gets readable errors for a conflict, a forbidden request and an invalid object", async () => {
    const core = config.makeApiClient(CoreV1Api);
    const body = { metadata: { name: "twice" } };
    await core.createNamespacedConfigMap({ namespace, body });
    const stale = { metadata: { name: "twice", resourceVersion: "1" } };

    await expect(core.createNamespacedConfigMap({ namespace, body })).rejects.toMatchObject({ code: 409 });
    await expect(core.replaceNamespacedConfigMap({ name: "twice", namespace, body: stale })).rejects.toThrow(
      "the object has been modified",
    );
    const odd = { metadata: { name: "Odd Name" } };
    await expect(core.createNamespacedConfigMap({ namespace, body: odd })).rejects.toMatchObject({ code: 422 });
  });

  it("watches from a list on, and receives the events in order", async () => {
    const core = config.makeApiClient(CoreV1Api);
    const { metadata } = await core.listNamespacedConfigMap({ namespace });
    const seen: string[] = [];

    const all = new Promise<void>((resolve, reject) => {
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const query = { resourceVersion: metadata?.resourceVersion ?? "", fieldSelector: "metadata.name=watched" };
      const see = (type: string) => {
        seen.push(type);
        if (type === "DELETED") resolve();
      };
      new Watch(config).watch(path, query, see, (error) => (error ? reject(error) : resolve())).catch(reject);
    });
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "watched" } } });
    await core.patchNamespacedConfigMap({ name: "watched", namespace, body: { data: { a: "1" } } }, mergePatch);
    await core.deleteNamespacedConfigMap({ name: "watched", namespace });
    await all;

    expect(seen).toEqual(["ADDED", "MODIFIED", "DELETED"]);
  });
});
