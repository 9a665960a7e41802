import { afterEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { volatileStore } from "../../../test/doubles/volatile-store.ts";
import { contractSamples, installContractSamples } from "../../kube/client.contract.ts";
import type { DeleteOptions, KubeClient } from "../../kube/client.ts";
import type { KubeObject, ObjectMeta, OwnerReference, ResourceType } from "../../kube/object.ts";
import { systemRandom } from "../../time/index.ts";
import { openApi, type RunningApi } from "../api/open-api.ts";
import { embeddedClient } from "../embedded-client.ts";

const opened: RunningApi[] = [];
afterEach(() => {
  for (const api of opened.splice(0)) api.close();
});

describe("an object that is deleted", () => {
  it("is removed with its dependents and their dependents in the background", async () => {
    const { make, remove, names } = await cluster();
    const owner = await make("owner");
    const child = await make("child", { owners: [owner] });
    await make("grandchild", { owners: [child] });
    await make("stranger");

    await remove("owner", { propagation: "Background" });

    expect(await names()).toEqual(["stranger"]);
  });

  it("remains until its dependents are deleted in the foreground", async () => {
    const { make, remove, names, find, change } = await cluster();
    const owner = await make("owner");
    await make("child", { owners: [owner], blocks: true, finalizers: ["test.interlock.dev/hold"] });

    await remove("owner", { propagation: "Foreground" });

    expect(await find("owner")).toMatchObject({ finalizers: ["foregroundDeletion"] });
    expect(await find("child")).toMatchObject({ deletionTimestamp: expect.any(String) });
    await change("child", { finalizers: null });
    expect(await names()).toEqual([]);
  });

  it("does not wait in the foreground for dependents that do not block", async () => {
    const { make, remove, names } = await cluster();
    const owner = await make("owner");
    await make("child", { owners: [owner], finalizers: ["test.interlock.dev/hold"] });

    await remove("owner", { propagation: "Foreground" });

    expect(await names()).toEqual(["child"]);
  });

  it("keeps its dependents without an owner when they are orphaned", async () => {
    const { make, remove, names, find } = await cluster();
    const owner = await make("owner");
    await make("child", { owners: [owner] });

    await remove("owner", { propagation: "Orphan" });

    expect(await names()).toEqual(["child"]);
    expect((await find("child"))?.ownerReferences).toBeUndefined();
  });

  it("keeps a dependent that has another owner, and removes the reference to itself", async () => {
    const { make, remove, names, find } = await cluster();
    const [one, two] = [await make("one"), await make("two")];
    await make("child", { owners: [one, two] });

    await remove("one", { propagation: "Background" });

    expect(await names()).toEqual(["child", "two"]);
    expect((await find("child"))?.ownerReferences?.map(({ name }) => name)).toEqual(["two"]);
  });

  it("waits for its own finalizers first", async () => {
    const { make, remove, names, change } = await cluster();
    const owner = await make("owner", { finalizers: ["test.interlock.dev/hold"] });
    await make("child", { owners: [owner] });

    await remove("owner", { propagation: "Background" });
    expect(await names()).toEqual(["child", "owner"]);
    await change("owner", { finalizers: null });

    expect(await names()).toEqual([]);
  });
});

describe("a dependent", () => {
  it("is collected when its owner was deleted before it was created", async () => {
    const { make, remove, names } = await cluster();
    const owner = await make("owner");
    await remove("owner");

    await make("late", { owners: [owner] });

    expect(await names()).toEqual([]);
  });

  it("is collected when its owner was replaced by another of the same name", async () => {
    const { make, remove, names } = await cluster();
    const owner = await make("owner");
    await remove("owner");
    await make("owner");

    await make("late", { owners: [owner] });

    expect(await names()).toEqual(["owner"]);
  });

  it("of an owner of an unknown kind is kept", async () => {
    const { make, names } = await cluster();

    await make("child", { owners: [{ ...(await make("owner")), kind: "Riddle", apiVersion: "no.such.group/v1" }] });

    expect(await names()).toEqual(["child", "owner"]);
  });

  it("is collected after a restart if its owner was deleted while no controller ran", async () => {
    const { make, remove, names, restart } = await cluster();
    const owner = await make("owner");
    await make("child", { owners: [owner] });

    const reopen = restart();
    await remove("owner");
    expect(await names()).toEqual(["child"]);
    await reopen();

    expect(await names()).toEqual([]);
  });
});

describe("a namespace that is deleted", () => {
  it("is removed with everything in it", async () => {
    const { client, make, names, settled } = await cluster();
    await make("a");
    await make("b");

    await client.delete(namespaces, { name: "default" });
    await settled();

    expect(await names()).toEqual([]);
    expect(await client.get(namespaces, { name: "default" })).toBeUndefined();
  });

  it("is Terminating and rejects new objects while an object in it waits for a finalizer", async () => {
    const { client, make, change, settled } = await cluster();
    await make("held", { finalizers: ["test.interlock.dev/hold"] });

    await client.delete(namespaces, { name: "default" });
    await settled();

    expect(await client.get(namespaces, { name: "default" })).toMatchObject({ status: { phase: "Terminating" } });
    await expect(make("late")).rejects.toMatchObject({ code: "forbidden" });
    await change("held", { finalizers: null });
    expect(await client.get(namespaces, { name: "default" })).toBeUndefined();
  });

  it("does not affect other namespaces", async () => {
    const { client, make, names, settled } = await cluster();
    await make("a");

    await client.delete(namespaces, { name: "kube-public" });
    await settled();

    expect(await names()).toEqual(["a"]);
  });
});

describe("a definition", () => {
  it("is established by the server", async () => {
    const { client, settled } = await cluster();

    await installContractSamples(client);
    await settled();

    expect(await client.get(definitions, { name: samples })).toMatchObject({
      status: {
        acceptedNames: { plural: "samples", kind: "Sample" },
        conditions: [{ type: "NamesAccepted" }, { type: "Established" }],
      },
    });
  });

  it("that is deleted is removed with its objects, and its kind is no longer served", async () => {
    const { client, settled } = await cluster();
    await installContractSamples(client);
    await client.create(contractSamples, { metadata: { name: "a", namespace: "default" } });

    await client.delete(definitions, { name: samples });
    await settled();

    expect(await client.get(definitions, { name: samples })).toBeUndefined();
    await expect(client.list(contractSamples)).rejects.toMatchObject({ code: "invalid" });
  });

  it("that is deleted waits for objects with finalizers, and has no objects when it is created again", async () => {
    const { client, settled } = await cluster();
    await installContractSamples(client);
    const held = { name: "held", namespace: "default", finalizers: ["test.interlock.dev/hold"] };
    await client.create(contractSamples, { metadata: held });

    await client.delete(definitions, { name: samples });
    await settled();
    expect(await client.get(definitions, { name: samples })).toMatchObject({
      status: { conditions: expect.arrayContaining([expect.objectContaining({ type: "Terminating" })]) },
    });
    await client.patch(contractSamples, held, { merge: { metadata: { finalizers: null } } });
    await settled();

    expect(await client.get(definitions, { name: samples })).toBeUndefined();
    await installContractSamples(client);
    expect((await client.list(contractSamples)).items).toEqual([]);
  });
});

const samples = "samples.contract.interlock.dev";
const things: ResourceType = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const namespaces: ResourceType = { apiVersion: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
const definitions: ResourceType = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};

interface Making {
  readonly owners?: readonly (Pick<OwnerReference, "name" | "uid"> & Partial<OwnerReference>)[];
  readonly blocks?: boolean;
  readonly finalizers?: readonly string[];
}

/** ConfigMaps in one namespace, and the controllers that look after them. Every step waits until they have nothing to do. */
async function cluster() {
  const store = volatileStore();
  const parts = { store, clock: new ManualClock(), random: systemRandom() };
  const api = await openApi(parts);
  opened.push(api);
  const client: KubeClient = embeddedClient(api);

  async function make(name: string, { owners, blocks, finalizers }: Making = {}) {
    const references = owners?.map((owner) => ({
      ...{ apiVersion: "v1", kind: "ConfigMap", ...owner },
      ...(blocks ? { blockOwnerDeletion: true } : {}),
    }));
    const metadata: ObjectMeta = {
      ...{ name, namespace: "default" },
      ...(references ? { ownerReferences: references } : {}),
      ...(finalizers ? { finalizers } : {}),
    };
    const outcome = await client.create(things, { metadata });
    if (outcome.kind !== "created") throw new Error(`${name} is there already`);
    await settled();
    return { name, uid: outcome.object.metadata.uid ?? "" };
  }

  async function remove(name: string, options?: DeleteOptions) {
    await client.delete(things, { name, namespace: "default" }, options);
    await settled();
  }

  async function change(name: string, metadata: object) {
    await client.patch(things, { name, namespace: "default" }, { merge: { metadata } });
    await settled();
  }

  async function names() {
    const { items } = await client.list(things, { namespace: "default" });
    return items.map(({ metadata }: KubeObject) => metadata.name);
  }

  /** Stops the controllers; the returned function starts them again on the same objects. */
  function restart() {
    api.close();
    return async () => {
      opened.push(await openApi(parts));
      await settled();
    };
  }

  async function find(name: string) {
    return (await client.get(things, { name, namespace: "default" }))?.metadata;
  }

  return { client, make, remove, change, names, find, restart, settled };
}

/** A volatile store never waits: when the event loop comes round, everything that follows from a change has happened. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
