import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { systemClock, systemRandom } from "../../time/index.ts";
import { contractSamples, kubeClientContract } from "../client.contract.ts";
import type { KubeClient, WatchEvent } from "../client.ts";
import { type KubeLease, leases } from "../lease.ts";
import type { KubeObject } from "../object.ts";
import { memoryCluster } from "./memory-client.ts";

const shared = memoryCluster({ clock: systemClock(), random: systemRandom() });
kubeClientContract("memory", () => shared.client());

describe("a memory cluster", () => {
  it("is one world for all its clients", async () => {
    const cluster = memory();

    await cluster.client("a").create(leases, lease("lock"));

    expect(await cluster.client("b").get(leases, at("lock"))).toBeDefined();
  });

  it("takes the time from its clock", async () => {
    const clock = new ManualClock();
    const client = memoryCluster({ clock, random: systemRandom() }).client();

    await clock.advance(60_000);

    expect(client.serverNowMs()).toBe(clock.wallMs());
  });

  it("is the same again with the same clock and the same chance", async () => {
    const [one, two] = await Promise.all(
      [1, 2].map(() => make(memory().client(), { metadata: { namespace: "ns", generateName: "a-" } })),
    );

    expect(one).toEqual(two);
  });

  it("hands out objects that nobody can change", async () => {
    const client = memory().client();
    const created = (await make(client, lease("a", { team: "sre" }))) as {
      metadata: { labels: Record<string, string> };
    };
    const { items } = await client.list(leases);

    expect(() => Object.assign(created.metadata.labels, { team: "dev" })).toThrow(TypeError);
    expect(() => Object.assign(created, { spec: {} })).toThrow(TypeError);
    expect(() => (items as KubeLease[]).pop()).toThrow(TypeError);
    expect((await client.get(leases, at("a")))?.metadata.labels).toEqual({ team: "sre" });
  });

  it("answers within the turn of the event loop in which it was asked", async () => {
    const client = memory().client();
    const events: string[] = [];
    const watching = follow(client, "100", (event) => events.push(event.type));

    await client.create(leases, lease("a"));
    for (let turn = 0; turn < 20; turn++) await undefined;

    expect(events).toEqual(["ADDED"]);
    watching.stop();
  });

  it("does not bring back by update a Lease that was deleted, when the update names its uid", async () => {
    const client = memory().client();
    const read = await make(client, lease("a"));
    await client.delete(leases, at("a"));

    const outcome = await client.update(leases, read);

    expect(outcome.kind).toBe("conflict");
    expect(await client.get(leases, at("a"))).toBeUndefined();
  });

  it("stores Lease times in UTC and drops nulls", async () => {
    const spec = { renewTime: "2024-05-01T12:00:00.000001+02:00", holderIdentity: null } as object;

    const stored = await make(memory().client(), { ...lease("a"), spec });

    expect(stored.spec).toEqual({ renewTime: "2024-05-01T10:00:00.000001Z" });
  });

  it("lets a JSON patch replace a key that was absent, as the real server does", async () => {
    const client = memory().client();
    await make(client, lease("a"));

    const outcome = await client.patch(leases, at("a"), {
      json: [{ op: "replace", path: "/spec/holderIdentity", value: "me" }],
    });

    expect(outcome).toMatchObject({ kind: "updated", object: { spec: { holderIdentity: "me" } } });
  });

  it.each([
    ["name", { name: "other" }],
    ["namespace", { namespace: "other" }],
    ["uid", { uid: "other" }],
  ])("refuses a patch of the %s as invalid", async (_field, metadata) => {
    const client = memory().client();
    await make(client, lease("a"));

    await expect(client.patch(leases, at("a"), { merge: { metadata } })).rejects.toMatchObject({ code: "invalid" });
  });

  it.each([
    ["a name in upper case", { namespace: "ns", name: "Upper" }],
    ["a label value that is too long", { ...at("a"), labels: { team: "x".repeat(64) } }],
    ["a label value with a slash", { ...at("a"), labels: { team: "a/b" } }],
  ])("refuses %s as invalid", async (_what, metadata) => {
    await expect(memory().client().create(leases, { metadata })).rejects.toMatchObject({ code: "invalid" });
  });

  it("asks the programmer for a missing namespace", async () => {
    await expect(memory().client().get(leases, { name: "a" })).rejects.toThrow(TypeError);
  });
});

describe("permissions of a memory cluster", () => {
  it.each([
    ["get", (client: KubeClient) => client.get(leases, at("a")), 'leases.coordination.k8s.io "a" is forbidden: '],
    [
      "list",
      (client: KubeClient) => client.list(leases, { namespace: "ns" }),
      "leases.coordination.k8s.io is forbidden: ",
    ],
    ["create", (client: KubeClient) => client.create(leases, lease("a")), ""],
    ["update", (client: KubeClient) => client.update(leases, lease("a")), ""],
    ["patch", (client: KubeClient) => client.patch(leases, at("a"), { merge: {} }), ""],
    ["delete", (client: KubeClient) => client.delete(leases, at("a")), ""],
    ["watch", (client: KubeClient) => next(client, "100"), ""],
  ] as const)("refuse %s to whom it is forbidden, naming what is missing", async (verb, attempt, start) => {
    const cluster = memory();
    cluster.forbid(verb, "leases", "eve");

    await expect(attempt(cluster.client("eve"))).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining(
        `${start}User "eve" cannot ${verb} resource "leases" in API group "coordination.k8s.io" in the namespace "ns"`,
      ),
    });
  });

  it("leave other identities, verbs and resources alone", async () => {
    const cluster = memory();
    cluster.forbid("create", "leases", "eve");

    await expect(cluster.client("adam").create(leases, lease("a"))).resolves.toMatchObject({ kind: "created" });
    await expect(cluster.client("eve").get(leases, at("a"))).resolves.toBeDefined();
  });

  it("are refused to everyone when no identity is named", async () => {
    const cluster = memory();
    cluster.forbid("list", "leases");

    await expect(cluster.client().list(leases)).rejects.toThrow("at the cluster scope");
  });

  it("are separate for the status subresource", async () => {
    const cluster = memory();
    const client = cluster.client();
    await client.create(contractSamples, { metadata: at("a") });
    cluster.forbid("patch", "samples/status");

    const patch = { merge: { status: { phase: "Running" } } };

    await expect(client.patch(contractSamples, at("a"), patch)).resolves.toMatchObject({ kind: "updated" });
    await expect(client.patch(contractSamples, at("a"), patch, { subresource: "status" })).rejects.toThrow(
      'cannot patch resource "samples/status"',
    );
  });

  it("to update do not allow to create a Lease by updating it", async () => {
    const cluster = memory();
    cluster.forbid("create", "leases");

    await expect(cluster.client().update(leases, lease("a"))).rejects.toMatchObject({ code: "forbidden" });
  });
});

describe("watches of a memory cluster", () => {
  it("are gone after compaction, however little they lagged behind", async () => {
    const cluster = memory();
    const client = cluster.client();
    const { resourceVersion } = await client.list(leases);
    const open = next(client, resourceVersion);

    cluster.compact();

    await expect(open).rejects.toMatchObject({ code: "gone" });
    await expect(next(client, resourceVersion)).rejects.toMatchObject({ code: "gone" });
  });

  it("go on from a list made after compaction", async () => {
    const cluster = memory();
    const client = cluster.client();
    await client.create(leases, lease("a"));
    cluster.compact();

    const { items, resourceVersion } = await client.list(leases);
    const open = next(client, resourceVersion);
    await client.create(leases, lease("b"));

    expect(items).toHaveLength(1);
    expect(await open).toMatchObject({ type: "ADDED", object: { metadata: { name: "b" } } });
  });

  it("are gone when they lag behind by more than is kept", async () => {
    const client = memory({ keptChanges: 2 }).client();
    const { resourceVersion } = await client.list(leases);
    const first = await make(client, lease("a"));
    for (const name of ["b", "c"]) await client.create(leases, lease(name));

    await expect(next(client, resourceVersion)).rejects.toMatchObject({ code: "gone" });
    expect(await next(client, first.metadata.resourceVersion)).toMatchObject({ object: { metadata: { name: "b" } } });
  });

  it("end when they are dropped, and can be resumed without a gap", async () => {
    const cluster = memory();
    const client = cluster.client();
    const { resourceVersion } = await client.list(leases);
    const open = next(client, resourceVersion);

    cluster.dropWatches();
    await client.create(leases, lease("a"));

    expect(await open).toBeUndefined();
    expect(await next(client, resourceVersion)).toMatchObject({ type: "ADDED" });
  });

  it("stay silent up to a version of the future", async () => {
    const client = memory().client();
    const future = next(client, "102");

    for (const name of ["a", "b", "c"]) await client.create(leases, lease(name));

    expect(await future).toMatchObject({ object: { metadata: { name: "c" } } });
  });
});

function memory({ keptChanges = 1_000 } = {}) {
  return memoryCluster({ clock: new ManualClock(), random: { fraction: counting(), id: () => "id" }, keptChanges });
}

/** The same small numbers in every test. */
function counting() {
  let count = 0;
  return () => (count++ * 0.137) % 1;
}

function at(name: string) {
  return { namespace: "ns", name };
}

function lease(name: string, labels?: Record<string, string>): KubeLease {
  return { metadata: { ...at(name), ...(labels && { labels }) } };
}

async function make(client: KubeClient, object: KubeLease): Promise<KubeLease> {
  const outcome = await client.create(leases, object);
  if (outcome.kind !== "created") throw new Error("already exists");
  return outcome.object;
}

async function next(client: KubeClient, resourceVersion = ""): Promise<WatchEvent<KubeObject> | undefined> {
  for await (const event of client.watch(leases, { namespace: "ns", resourceVersion })) return event;
  return undefined;
}

function follow(client: KubeClient, resourceVersion: string, see: (event: WatchEvent<KubeObject>) => void) {
  const stop = new AbortController();
  const run = async () => {
    for await (const event of client.watch(leases, { resourceVersion }, { signal: stop.signal })) see(event);
  };
  const running = run();
  return { running, stop: () => stop.abort() };
}
