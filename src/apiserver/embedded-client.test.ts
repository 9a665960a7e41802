import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ManualClock } from "../../test/doubles/manual-clock.ts";
import { volatileStore } from "../../test/doubles/volatile-store.ts";
import { contractSamples, installContractSamples, kubeClientContract } from "../kube/client.contract.ts";
import type { KubeClient } from "../kube/client.ts";
import { leases } from "../kube/lease.ts";
import { systemClock, systemRandom } from "../time/index.ts";
import { openApi, type RunningApi } from "./api/open-api.ts";
import { embeddedClient } from "./embedded-client.ts";

let shared: RunningApi;
beforeAll(async () => {
  shared = await openApi({ store: volatileStore(), clock: systemClock(), random: systemRandom() });
  await installContractSamples(embeddedClient(shared));
});
afterAll(() => shared.close());
kubeClientContract("embedded, in process", () => embeddedClient(shared));

describe("the embedded client", () => {
  it("returns the stored object itself, deeply frozen", async () => {
    const client = await fresh();
    await client.create(leases, lease("a", { team: "sre" }));

    const [one, two] = [await client.get(leases, at("a")), await client.get(leases, at("a"))];

    expect(one).toBe(two);
    expect(() => Object.assign(one?.metadata.labels ?? {}, { team: "dev" })).toThrow(TypeError);
  });

  it("takes the time from the server's clock", async () => {
    const clock = new ManualClock();
    const client = await fresh({ clock });

    await clock.advance(60_000);

    expect(client.serverNowMs()).toBe(clock.wallMs());
  });

  it("sends a bookmark with its position on a watch once a minute", async () => {
    const clock = new ManualClock();
    const client = await fresh({ clock });
    const { resourceVersion } = await client.list(leases, {});
    const event = firstEvent(client, resourceVersion);

    await clock.advance(60_000);

    expect(await event).toEqual({ type: "BOOKMARK", resourceVersion });
  });

  it("refuses an object in a namespace that does not exist", async () => {
    const client = await fresh();

    const creation = client.create(leases, { metadata: { namespace: "nowhere", name: "a" } });

    await expect(creation).rejects.toMatchObject({ code: "invalid", message: 'namespaces "nowhere" not found' });
  });

  it("rejects a kind that the server does not serve", async () => {
    const client = await fresh();

    await expect(client.list(contractSamples)).rejects.toMatchObject({ code: "invalid" });
  });

  it("throws a TypeError for a missing namespace", async () => {
    const client = await fresh();

    await expect(client.get(leases, { name: "a" })).rejects.toThrow(TypeError);
  });

  it("does not create a deleted Lease again by an update with its uid", async () => {
    const client = await fresh();
    const outcome = await client.create(leases, lease("a"));
    await client.delete(leases, at("a"));

    const update = await client.update(leases, outcome.kind === "created" ? outcome.object : lease("a"));

    expect(update.kind).toBe("conflict");
    expect(await client.get(leases, at("a"))).toBeUndefined();
  });

  it("stores Lease times in UTC and drops nulls", async () => {
    const client = await fresh();
    const spec = { renewTime: "2024-05-01T12:00:00.000001+02:00", holderIdentity: null } as object;

    await client.create(leases, { ...lease("a"), spec });

    expect((await client.get(leases, at("a")))?.spec).toEqual({ renewTime: "2024-05-01T10:00:00.000001Z" });
  });

  it("ends a watch with gone when it lags behind by more changes than the store keeps", async () => {
    const client = await fresh({ keptChanges: 2 });
    const { resourceVersion } = await client.list(leases);
    for (const name of ["a", "b", "c", "d", "e"]) await client.create(leases, lease(name));

    await expect(firstEvent(client, resourceVersion)).rejects.toMatchObject({ code: "gone" });
  });

  it("keeps the parts that a merge patch does not change, instead of copying and checking them again", async () => {
    const client = await fresh();
    await installContractSamples(client);
    await client.create(contractSamples, { metadata: at("a"), spec: { size: 1 } });
    const before = await client.get(contractSamples, at("a"));

    const patch = { merge: { metadata: { labels: { team: "sre" } } } };
    const after = await client.patch(contractSamples, at("a"), patch);

    expect(after).toMatchObject({ kind: "updated", object: { metadata: { labels: { team: "sre" } } } });
    expect(after.kind === "updated" && after.object.spec).toBe(before?.spec);
  });

  it("prunes and validates an object again when it is patched after its definition has changed", async () => {
    const client = await fresh();
    await installContractSamples(client);
    await client.create(contractSamples, { metadata: at("narrow"), spec: { size: 1 } });
    await client.create(contractSamples, { metadata: at("large"), spec: { size: 20 } });
    await define(client, { size: { type: "integer", maximum: 10 }, colour: { type: "string", default: "red" } });
    const patch = { merge: { metadata: { labels: { team: "sre" } } } };

    const narrow = await client.patch(contractSamples, at("narrow"), patch);
    const large = client.patch(contractSamples, at("large"), patch);

    expect(narrow).toMatchObject({ object: { spec: { size: 1, colour: "red" } } });
    await expect(large).rejects.toMatchObject({ code: "invalid", message: expect.stringContaining("spec.size") });
    await define(client, { colour: { type: "string" } });
    expect(await client.patch(contractSamples, at("narrow"), { merge: { spec: { colour: "blue" } } })).toMatchObject({
      object: { spec: { colour: "blue" } },
    });
    expect((await client.get(contractSamples, at("narrow")))?.spec).not.toHaveProperty("size");
  });

  async function define(client: KubeClient, properties: object) {
    const name = "samples.contract.interlock.dev";
    const type = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      plural: "customresourcedefinitions",
      namespaced: false,
    };
    const path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    await client.patch(type, { name }, { json: [{ op: "replace", path, value: properties }] });
  }

  it("resolves within the same turn of the event loop", async () => {
    const client = await fresh();
    let answered = false;

    void client.create(leases, lease("a")).then(() => (answered = true));
    for (let turn = 0; turn < 20; turn++) await undefined;

    expect(answered).toBe(true);
  });
});

async function fresh({ clock = new ManualClock(), keptChanges = 1_000 } = {}) {
  return embeddedClient(await openApi({ store: volatileStore({ keptChanges }), clock, random: systemRandom() }));
}

function at(name: string) {
  return { namespace: "default", name };
}

function lease(name: string, labels?: Record<string, string>) {
  return { metadata: { ...at(name), ...(labels && { labels }) } };
}

async function firstEvent(client: KubeClient, resourceVersion: string) {
  for await (const event of client.watch(leases, { namespace: "default", resourceVersion })) return event;
  return undefined;
}
