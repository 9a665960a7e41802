import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { systemClock, systemRandom } from "../../time/index.ts";
import { contractSamples, kubeClientContract } from "../client.contract.ts";
import { leases } from "../lease.ts";
import type { KubeObject, ResourceType } from "../object.ts";
import { openApi, type RunningApi } from "./api/open-api.ts";
import { type Attempt, embeddedClient } from "./embedded-client.ts";
import { volatileStore } from "./volatile-store.ts";

let shared: RunningApi;
beforeAll(async () => {
  shared = await openApi({ store: volatileStore(), clock: systemClock(), random: systemRandom() });
  await embeddedClient(shared).create(definitions, samplesDefinition);
});
afterAll(() => shared.close());
kubeClientContract("embedded, in process", () => embeddedClient(shared));

describe("the embedded client", () => {
  it("hands out the stored object itself, frozen to its last leaf", async () => {
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

  it("refuses an object in a namespace that does not exist", async () => {
    const client = await fresh();

    const creation = client.create(leases, { metadata: { namespace: "nowhere", name: "a" } });

    await expect(creation).rejects.toMatchObject({ code: "invalid", message: 'namespaces "nowhere" not found' });
  });

  it("refuses a kind that the server does not know", async () => {
    const client = await fresh();

    await expect(client.list(contractSamples)).rejects.toMatchObject({ code: "invalid" });
  });

  it("asks the programmer for a missing namespace", async () => {
    const client = await fresh();

    await expect(client.get(leases, { name: "a" })).rejects.toThrow(TypeError);
  });

  it("names what is missing when a call is not allowed", async () => {
    const client = await fresh({ allows: ({ verb }) => verb !== "create" });

    await expect(client.create(leases, lease("a"))).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining(
        'User "eve" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "default"',
      ),
    });
  });

  it("needs permission to create for an update that creates a Lease", async () => {
    const client = await fresh({ allows: ({ verb }) => verb !== "create" });

    await expect(client.update(leases, lease("a"))).rejects.toMatchObject({ code: "forbidden" });
  });

  it("answers within the turn of the event loop in which it was asked", async () => {
    const client = await fresh();
    let answered = false;

    void client.create(leases, lease("a")).then(() => (answered = true));
    for (let turn = 0; turn < 20; turn++) await undefined;

    expect(answered).toBe(true);
  });
});

const definitions: ResourceType = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};

const samplesDefinition = {
  metadata: { name: "samples.contract.interlock.dev" },
  spec: {
    group: "contract.interlock.dev",
    scope: "Namespaced",
    names: { plural: "samples", kind: "Sample" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: { size: { type: "integer" } } },
              status: { type: "object", properties: { phase: { type: "string" } } },
            },
          },
        },
      },
    ],
  },
} as KubeObject;

async function fresh({
  clock = new ManualClock(),
  allows,
}: {
  clock?: ManualClock;
  allows?: (attempt: Attempt) => boolean;
} = {}) {
  const api = await openApi({ store: volatileStore(), clock, random: systemRandom() });
  return embeddedClient(api, { identity: "eve", ...(allows ? { allows } : {}) });
}

function at(name: string) {
  return { namespace: "default", name };
}

function lease(name: string, labels?: Record<string, string>) {
  return { metadata: { ...at(name), ...(labels && { labels }) } };
}
