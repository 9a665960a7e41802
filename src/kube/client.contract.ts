import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../time/index.ts";
import type { KubeClient, UpdateOutcome, WatchEvent, WatchQuery } from "./client.ts";
import { type KubeLease, leases, microTime } from "./lease.ts";
import type { KubeObject, ResourceType } from "./object.ts";

export interface ContractSample extends KubeObject {
  readonly spec?: { readonly size: number };
  readonly status?: { readonly phase: string };
}

/** The custom resource of the suite, which `installContractSamples` makes known. */
export const contractSamples: ResourceType<ContractSample> = {
  apiVersion: "contract.interlock.dev/v1",
  kind: "Sample",
  plural: "samples",
  namespaced: true,
};

/** Installs the suite's own kind on a server, and waits until it is served. Returns a function that removes it. */
export async function installContractSamples(client: KubeClient): Promise<() => Promise<void>> {
  const { kind } = await client.create(definitions, samplesDefinition);
  while (!(await client.list(contractSamples).catch(() => undefined))) {
    await new Promise((resolve) => systemClock().after(100, () => resolve(undefined)));
  }
  return async () => {
    // A definition of another user is left alone.
    if (kind === "created") await client.delete(definitions, { name: samplesDefinition.metadata.name });
  };
}

/**
 * The contract of every `KubeClient`. Runs against a server that is used by others, too: each case has its own namespace.
 * `forbidden` and `unavailable` depend on how a server is set up and broken, and are tested with each adapter.
 */
export function kubeClientContract(name: string, makeClient: () => KubeClient | Promise<KubeClient>): void {
  describe(`${name}: a Kubernetes client`, () => {
    let client: KubeClient;
    let namespace: string;

    beforeEach(async () => {
      client = await makeClient();
      const outcome = await client.create(namespaces, { metadata: { generateName: "kube-contract-" } });
      namespace = outcome.kind === "created" ? (outcome.object.metadata.name as string) : "";
    });

    afterEach(async () => {
      await client.delete(namespaces, { name: namespace });
    });

    describe("reading", () => {
      it("returns undefined for an object that does not exist", async () => {
        expect(await client.get(configMaps, at("nobody"))).toBeUndefined();
      });

      it("gets an object by namespace and name", async () => {
        const created = await make(configMaps, configMap("a", { data: { x: "1" } }));

        const found = await client.get(configMaps, at("a"));

        expect(found).toEqual(created);
      });

      it("keeps objects of one name apart by kind", async () => {
        await make(configMaps, configMap("a"));

        expect(await client.get(leases, at("a"))).toBeUndefined();
      });

      it("finds a kind without namespaces by name alone", async () => {
        expect((await client.get(namespaces, { name: namespace }))?.metadata.namespace).toBeUndefined();
      });

      it("lists the objects of a namespace in the order of their names", async () => {
        for (const name of ["b", "a", "c"]) await make(leases, lease(name));

        const { items } = await client.list(leases, { namespace });

        expect(names(items)).toEqual(["a", "b", "c"]);
      });

      it("lists all namespaces when none is given", async () => {
        await make(leases, lease("a"));

        const { items } = await client.list(leases, { fieldSelector: `metadata.namespace=${namespace}` });

        expect(names(items)).toEqual(["a"]);
      });

      it.each([
        ["app=web", ["back", "front"]],
        ["app==web", ["back", "front"]],
        ["app!=web", ["bare", "db"]],
        ["app in (web, db)", ["back", "db", "front"]],
        ["app notin (web)", ["bare", "db"]],
        ["tier", ["back", "front"]],
        ["!tier", ["bare", "db"]],
        ["app=web,tier!=back", ["front"]],
        ["app in (web),tier", ["back", "front"]],
        ["app=", []],
        [" app = web , tier in ( front , back ) ", ["back", "front"]],
        ["", ["back", "bare", "db", "front"]],
      ])("lists what the label selector %j selects", async (labelSelector, expected) => {
        await make(leases, lease("front", { labels: { app: "web", tier: "front" } }));
        await make(leases, lease("back", { labels: { app: "web", tier: "back" } }));
        await make(leases, lease("db", { labels: { app: "db" } }));
        await make(leases, lease("bare"));

        const { items } = await client.list(leases, { namespace, labelSelector });

        expect(names(items)).toEqual(expected);
      });

      it.each(["app===web", "app in (web", "a b", "app=a b", "app=@"])(
        "refuses the label selector %j as invalid",
        async (labelSelector) => {
          await expect(client.list(leases, { namespace, labelSelector })).rejects.toMatchObject({ code: "invalid" });
        },
      );

      it.each([
        ["metadata.name=a", ["a"]],
        ["metadata.name!=a", ["b"]],
        ["metadata.namespace=elsewhere", []],
      ])("lists what the field selector %j selects", async (fieldSelector, expected) => {
        for (const name of ["a", "b"]) await make(leases, lease(name));

        const { items } = await client.list(leases, { namespace, fieldSelector });

        expect(names(items)).toEqual(expected);
      });

      it("rejects a field selector that the kind does not support as invalid", async () => {
        const listing = client.list(configMaps, { namespace, fieldSelector: "data.x=1" });

        await expect(listing).rejects.toMatchObject({ code: "invalid" });
      });
    });

    describe("creating", () => {
      it("gives the object a uid, a version and a creation time", async () => {
        const { metadata } = await make(configMaps, configMap("a"));

        expect(metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
        expect(metadata.resourceVersion).toMatch(/^\d+$/);
        expect(metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      });

      it("returns that the object already exists, and does not change it", async () => {
        const first = await make(configMaps, configMap("a", { data: { x: "first" } }));

        const outcome = await client.create(configMaps, configMap("a", { data: { x: "second" } }));

        expect(outcome).toEqual({ kind: "already-exists" });
        expect(await client.get(configMaps, at("a"))).toEqual(first);
      });

      it("creates nothing in a dry run, and returns the object", async () => {
        const outcome = await client.create(configMaps, configMap("a", { data: { x: "1" } }), { dryRun: true });

        expect(outcome).toMatchObject({ kind: "created", object: { data: { x: "1" } } });
        expect(await client.get(configMaps, at("a"))).toBeUndefined();
      });

      it("returns in a dry run that the object already exists", async () => {
        await make(configMaps, configMap("a"));

        expect(await client.create(configMaps, configMap("a"), { dryRun: true })).toEqual({ kind: "already-exists" });
      });

      it("lets exactly one of many creators succeed", async () => {
        const attempts = Array.from({ length: 8 }, (_, i) => client.create(leases, lease("lock", { holder: `h${i}` })));

        const outcomes = await Promise.all(attempts);

        expect(outcomes.filter(({ kind }) => kind === "created")).toHaveLength(1);
      });

      it("generates a name from generateName", async () => {
        const draft = { metadata: { namespace, generateName: "gen-" } };

        const [one, two] = [await make(configMaps, draft), await make(configMaps, draft)];

        expect(one.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
        expect(two.metadata.name).not.toBe(one.metadata.name);
      });

      it("gives a re-created object a new uid and a larger version", async () => {
        const first = await make(configMaps, configMap("a"));
        await client.delete(configMaps, at("a"));

        const second = await make(configMaps, configMap("a"));

        expect(second.metadata.uid).not.toBe(first.metadata.uid);
        expect(version(second)).toBeGreaterThan(version(first));
      });

      it("does not keep a reference to the passed object", async () => {
        const data = { x: "1" };
        await make(configMaps, configMap("a", { data }));

        data.x = "2";

        expect((await client.get(configMaps, at("a")))?.data).toEqual({ x: "1" });
      });

      it("refuses an object without a name as invalid", async () => {
        await expect(client.create(configMaps, { metadata: { namespace } })).rejects.toMatchObject({ code: "invalid" });
      });
    });

    describe("updating", () => {
      it.each(["update", "patch"] as const)(
        "changes nothing in a dry run of %s, and answers as if it had",
        async (verb) => {
          const read = await make(configMaps, configMap("a", { data: { x: "1" } }));

          const outcome =
            verb === "update"
              ? await client.update(configMaps, { ...read, data: { x: "2" } }, { dryRun: true })
              : await client.patch(configMaps, at("a"), { merge: { data: { x: "2" } } }, { dryRun: true });

          expect(updated(outcome).data).toEqual({ x: "2" });
          expect(await client.get(configMaps, at("a"))).toEqual(read);
        },
      );

      it("replaces the object at the version that was read", async () => {
        const read = await make(configMaps, configMap("a", { data: { x: "1" }, labels: { app: "web" } }));

        const next = updated(
          await client.update(configMaps, { ...configMap("a", { data: { y: "2" } }), ...only(read) }),
        );

        expect(next.data).toEqual({ y: "2" });
        expect(next.metadata.labels).toBeUndefined();
        expect(next.metadata.uid).toBe(read.metadata.uid);
        expect(version(next)).toBeGreaterThan(version(read));
      });

      it("is a conflict at a version that is no longer the latest, and changes nothing", async () => {
        const read = await make(configMaps, configMap("a", { data: { x: "1" } }));
        const latest = updated(await client.update(configMaps, { ...read, data: { x: "2" } }));

        const outcome = await client.update(configMaps, { ...read, data: { x: "3" } });

        expect(outcome).toEqual({
          kind: "conflict",
          message: expect.stringContaining('Operation cannot be fulfilled on configmaps "a"'),
        });
        expect(await client.get(configMaps, at("a"))).toEqual(latest);
      });

      it("lets exactly one of many updates of the same version succeed", async () => {
        const read = await make(leases, lease("lock"));
        const attempts = Array.from({ length: 8 }, (_, i) =>
          client.update(leases, { ...read, spec: { holderIdentity: `h${i}` } }),
        );

        const outcomes = await Promise.all(attempts);

        expect(outcomes.filter(({ kind }) => kind === "updated")).toHaveLength(1);
        expect(outcomes.filter(({ kind }) => kind === "conflict")).toHaveLength(7);
      });

      it("replaces a ConfigMap of any version when none is given", async () => {
        await make(configMaps, configMap("a", { data: { x: "1" } }));

        const outcome = await client.update(configMaps, configMap("a", { data: { x: "2" } }));

        expect(updated(outcome).data).toEqual({ x: "2" });
      });

      it.each([
        ["Lease", leases],
        ["custom resource", contractSamples],
      ])("refuses to replace a %s without a version as invalid", async (_kind, type) => {
        await make<KubeObject>(type, {
          metadata: { namespace, name: "a" },
          ...(type === leases ? {} : { spec: { size: 1 } }),
        });

        const outcome = client.update<KubeObject>(type, { metadata: { namespace, name: "a", labels: { app: "web" } } });

        await expect(outcome).rejects.toMatchObject({ code: "invalid" });
      });

      it("returns not-found for an object that does not exist", async () => {
        expect(await client.update(configMaps, configMap("nobody"))).toEqual({ kind: "not-found" });
      });

      it("creates a Lease that does not exist, even with a version", async () => {
        const outcome = await client.update(leases, {
          ...lease("fresh", { holder: "me" }),
          metadata: { namespace, name: "fresh", resourceVersion: "5" },
        });

        expect(updated(outcome).spec?.holderIdentity).toBe("me");
      });

      it("is a conflict for an object that was deleted and created again", async () => {
        const first = await make(configMaps, configMap("a"));
        await client.delete(configMaps, at("a"));
        await make(configMaps, configMap("a"));

        const outcome = await client.update(configMaps, {
          ...configMap("a"),
          metadata: { ...at("a"), uid: first.metadata.uid as string },
        });

        expect(outcome.kind).toBe("conflict");
      });

      it("keeps the version when nothing changes", async () => {
        const read = await make(leases, lease("a", { holder: "me" }));

        expect(updated(await client.update(leases, read))).toEqual(read);
      });

      it("increments the generation of a custom resource when its spec changes, not when its metadata does", async () => {
        const first = await make(contractSamples, sample("a", 1));

        const second = updated(await client.update(contractSamples, { ...first, spec: { size: 2 } }));
        const third = updated(
          await client.update(contractSamples, { ...second, metadata: { ...second.metadata, labels: { app: "web" } } }),
        );

        expect([first, second, third].map(({ metadata }) => metadata.generation)).toEqual([1, 2, 2]);
      });

      it("writes the status only through its subresource, and nothing else with it", async () => {
        const first = await make(contractSamples, { ...sample("a", 1), status: { phase: "Ignored" } });
        const written = { ...first, spec: { size: 2 }, status: { phase: "Running" } };

        const second = updated(await client.update(contractSamples, written, { subresource: "status" }));
        const third = updated(await client.update(contractSamples, { ...second, status: { phase: "Ignored" } }));

        expect(first.status).toBeUndefined();
        expect(second).toMatchObject({ spec: { size: 1 }, status: { phase: "Running" }, metadata: { generation: 1 } });
        expect(third.status).toEqual({ phase: "Running" });
      });
    });

    describe("patching", () => {
      it("sets and removes fields with a merge patch", async () => {
        await make(configMaps, configMap("a", { data: { x: "1", y: "2" } }));

        const outcome = await client.patch(configMaps, at("a"), { merge: { data: { x: null, z: "3" } } });

        expect(updated(outcome).data).toEqual({ y: "2", z: "3" });
      });

      it("is a conflict for a merge patch with a version that is no longer the latest", async () => {
        const read = await make(configMaps, configMap("a"));
        await client.patch(configMaps, at("a"), { merge: { data: { x: "1" } } });

        const outcome = await client.patch(configMaps, at("a"), { merge: { ...only(read), data: { x: "2" } } });

        expect(outcome.kind).toBe("conflict");
      });

      it("applies JSON patch operations in order", async () => {
        await make(configMaps, configMap("a", { data: { x: "1", y: "2" }, labels: { "k8s.io/b": "2" } }));

        const outcome = await client.patch(configMaps, at("a"), {
          json: [
            { op: "test", path: "/data/x", value: "1" },
            { op: "replace", path: "/data/x", value: "9" },
            { op: "remove", path: "/data/y" },
            { op: "add", path: "/metadata/labels/k8s.io~1c", value: "3" },
            { op: "add", path: "/metadata/finalizers", value: ["interlock.dev/two"] },
            { op: "add", path: "/metadata/finalizers/0", value: "interlock.dev/one" },
            { op: "add", path: "/metadata/finalizers/-", value: "interlock.dev/three" },
            { op: "remove", path: "/metadata/finalizers/1" },
          ],
        });

        expect(updated(outcome)).toMatchObject({
          data: { x: "9" },
          metadata: {
            labels: { "k8s.io/b": "2", "k8s.io/c": "3" },
            finalizers: ["interlock.dev/one", "interlock.dev/three"],
          },
        });
        await client.patch(configMaps, at("a"), { merge: { metadata: { finalizers: null } } });
      });

      it.each<[string, { op: "test" | "add"; path: string; value: unknown } | { op: "remove"; path: string }]>([
        ["a test that fails", { op: "test", path: "/data/x", value: "2" }],
        ["a test of what is absent", { op: "test", path: "/data/nope", value: "1" }],
        ["a removal of what is absent", { op: "remove", path: "/data/nope" }],
        ["an addition below what is absent", { op: "add", path: "/nope/deeper", value: "1" }],
      ])("refuses %s as invalid, and changes nothing", async (_what, operation) => {
        const before = await make(configMaps, configMap("a", { data: { x: "1" } }));

        const outcome = client.patch(configMaps, at("a"), {
          json: [{ op: "add", path: "/data/y", value: "1" }, operation],
        });

        await expect(outcome).rejects.toMatchObject({ code: "invalid" });
        expect(await client.get(configMaps, at("a"))).toEqual(before);
      });

      it("writes status through its subresource", async () => {
        await make(contractSamples, sample("a", 1));

        const patch = { merge: { spec: { size: 2 }, status: { phase: "Running" } } };
        const outcome = await client.patch(contractSamples, at("a"), patch, { subresource: "status" });

        expect(updated(outcome)).toMatchObject({ spec: { size: 1 }, status: { phase: "Running" } });
      });

      it("returns not-found for an object that does not exist", async () => {
        expect(await client.patch(leases, at("nobody"), { merge: { spec: {} } })).toEqual({ kind: "not-found" });
      });
    });

    describe("deleting", () => {
      it("removes the object, and does not find it a second time", async () => {
        await make(configMaps, configMap("a"));

        expect(await client.delete(configMaps, at("a"))).toEqual({ kind: "deleted" });
        expect(await client.get(configMaps, at("a"))).toBeUndefined();
        expect(await client.delete(configMaps, at("a"))).toEqual({ kind: "not-found" });
      });

      it("is a conflict when the object has another uid", async () => {
        await make(leases, lease("a"));
        const uid = "00000000-0000-4000-8000-000000000000";

        const outcome = await client.delete(leases, at("a"), { preconditions: { uid } });

        expect(outcome).toEqual({ kind: "conflict", message: expect.stringContaining("the UID in the precondition") });
        expect(await client.get(leases, at("a"))).toBeDefined();
      });

      it("is a conflict when the object has another version", async () => {
        const read = await make(leases, lease("a"));
        await client.update(leases, { ...read, spec: { holderIdentity: "other" } });
        const { resourceVersion } = read.metadata;

        const outcome = await client.delete(leases, at("a"), {
          preconditions: { resourceVersion: resourceVersion ?? "" },
        });

        expect(outcome).toEqual({
          kind: "conflict",
          message: expect.stringContaining('Operation cannot be fulfilled on Lease.coordination.k8s.io "a"'),
        });
      });

      it("removes the object that has exactly this uid and version", async () => {
        const { metadata } = await make(leases, lease("a"));
        const preconditions = { uid: metadata.uid ?? "", resourceVersion: metadata.resourceVersion ?? "" };

        expect(await client.delete(leases, at("a"), { preconditions })).toEqual({ kind: "deleted" });
      });

      it("only marks an object with finalizers, which is removed with its last finalizer", async () => {
        await make(configMaps, configMap("a", { finalizers: ["interlock.dev/one", "interlock.dev/two"] }));

        const outcome = await client.delete(configMaps, at("a"));
        const marked = await client.get(configMaps, at("a"));
        await client.patch(configMaps, at("a"), { merge: { metadata: { finalizers: ["interlock.dev/two"] } } });
        const waiting = await client.get(configMaps, at("a"));
        const last = await client.patch(configMaps, at("a"), { merge: { metadata: { finalizers: null } } });

        expect(marked?.metadata.deletionTimestamp).toBeDefined();
        expect(outcome).toEqual({ kind: "deleted", remaining: marked });
        expect(waiting?.metadata.deletionTimestamp).toBe(marked?.metadata.deletionTimestamp);
        expect(updated(last).metadata.resourceVersion).toBe(waiting?.metadata.resourceVersion);
        expect(await client.get(configMaps, at("a"))).toBeUndefined();
      });

      it("refuses a new finalizer on an object that is being deleted as invalid", async () => {
        await make(configMaps, configMap("a", { finalizers: ["interlock.dev/one"] }));
        await client.delete(configMaps, at("a"));

        const finalizers = ["interlock.dev/one", "interlock.dev/new"];
        const outcome = client.patch(configMaps, at("a"), { merge: { metadata: { finalizers } } });

        await expect(outcome).rejects.toMatchObject({ code: "invalid" });
        await client.patch(configMaps, at("a"), { merge: { metadata: { finalizers: null } } });
      });
    });

    describe("evicting", () => {
      it("removes a pod that no disruption budget protects, and does not find it a second time", async () => {
        const pod = await make(pods, podNamed("a"));

        expect(await client.evict(at("a"), { uid: pod.metadata.uid ?? "" })).toEqual({ kind: "evicted" });
        expect(await client.evict(at("a"))).toEqual({ kind: "not-found" });
      });

      it("is a conflict when the pod has another uid", async () => {
        await make(pods, podNamed("a"));

        expect(await client.evict(at("a"), { uid: "another" })).toMatchObject({ kind: "conflict" });
        expect(await client.get(pods, at("a"))).toBeDefined();
      });

      it("is blocked, with its name, while a disruption budget allows no disruption", async () => {
        await make(pods, podNamed("a"));
        await client.patch(pods, at("a"), { merge: { status: { phase: "Running" } } }, { subresource: "status" });
        const spec = { minAvailable: 1, selector: { matchLabels: { app: "a" } } };
        const budget = await make(budgets, { metadata: { namespace, name: "keep-one" }, spec });
        const observedGeneration = budget.metadata.generation;
        const status = { disruptionsAllowed: 0, desiredHealthy: 1, currentHealthy: 0, expectedPods: 1 };
        const patch = { merge: { status: { ...status, observedGeneration } } };
        await client.patch(budgets, at("keep-one"), patch, { subresource: "status" });

        const outcome = await client.evict(at("a"));

        expect(outcome).toMatchObject({ kind: "blocked", message: expect.stringContaining("keep-one") });
        expect(await client.get(pods, at("a"))).toBeDefined();
      });

      function podNamed(name: string): KubeObject {
        // A pod that a scheduler gives to a node is gone only when its kubelet has ended it.
        const spec = { schedulerName: "none", containers: [{ name: "a", image: "registry.invalid/a" }] };
        return { metadata: { namespace, name, labels: { app: name } }, spec } as KubeObject;
      }
    });

    describe("a Lease", () => {
      it("keeps times of six fraction digits", async () => {
        const renewTime = microTime(1_714_557_600_123.456);

        const stored = await make(leases, { ...lease("a"), spec: { renewTime } });

        expect(stored.spec?.renewTime).toBe(renewTime);
      });

      it.each([
        ["a time in seconds", { renewTime: "2024-05-01T10:00:00Z" }],
        ["a time in milliseconds", { renewTime: "2024-05-01T10:00:00.123Z" }],
        ["a time in nanoseconds", { renewTime: "2024-05-01T10:00:00.123456789Z" }],
        ["a time without a zone", { acquireTime: "2024-05-01T10:00:00.123456" }],
        ["month 13", { acquireTime: "2024-13-01T10:00:00.000000Z" }],
        ["a duration of zero", { leaseDurationSeconds: 0 }],
        ["a negative duration", { leaseDurationSeconds: -1 }],
        ["a duration with a fraction", { leaseDurationSeconds: 1.5 }],
        ["negative transitions", { leaseTransitions: -1 }],
      ])("is invalid with %s", async (_what, spec) => {
        await expect(client.create(leases, { ...lease("a"), spec })).rejects.toMatchObject({ code: "invalid" });
        expect(await client.get(leases, at("a"))).toBeUndefined();
      });

      it("is invalid with a duration of zero when updated, too", async () => {
        const read = await make(leases, lease("a"));

        const outcome = client.update(leases, { ...read, spec: { leaseDurationSeconds: 0 } });

        await expect(outcome).rejects.toMatchObject({ code: "invalid" });
      });
    });

    describe("watching", () => {
      it("yields every change after the given version, in order", async () => {
        const { resourceVersion } = await client.list(leases, { namespace });
        const a = await make(leases, lease("a"));
        const b = await make(leases, lease("b"));
        const renewed = updated(await client.update(leases, { ...a, spec: { holderIdentity: "me" } }));
        await client.delete(leases, at("b"));

        const events = await firstEvents(4, leases, { namespace, resourceVersion });

        expect(events.slice(0, 3)).toEqual([
          { type: "ADDED", object: a },
          { type: "ADDED", object: b },
          { type: "MODIFIED", object: renewed },
        ]);
        expect(summary(events.slice(3))).toEqual(["DELETED b"]);
        expect(events.map(eventVersion)).toEqual(events.map(eventVersion).toSorted((x, y) => x - y));
      });

      it("yields the changes while it is open", async () => {
        const { resourceVersion } = await client.list(leases, { namespace });

        const watching = firstEvents(2, leases, { namespace, resourceVersion });
        await make(leases, lease("a"));
        await client.delete(leases, at("a"));

        expect(summary(await watching)).toEqual(["ADDED a", "DELETED a"]);
      });

      it("continues from the version of any event", async () => {
        const { resourceVersion } = await client.list(leases, { namespace });
        for (const name of ["a", "b", "c"]) await make(leases, lease(name));
        const [, second] = await firstEvents(2, leases, { namespace, resourceVersion });

        const rest = await firstEvents(1, leases, { namespace, resourceVersion: String(eventVersion(second)) });

        expect(summary(rest)).toEqual(["ADDED c"]);
      });

      it("yields nothing for a write that changed nothing", async () => {
        const read = await make(leases, lease("a", { holder: "me" }));
        await client.update(leases, read);
        await make(leases, lease("b"));

        const events = await firstEvents(1, leases, {
          namespace,
          resourceVersion: read.metadata.resourceVersion ?? "",
        });

        expect(summary(events)).toEqual(["ADDED b"]);
      });

      it("yields the last state of a deleted object, at the version of its deletion", async () => {
        const a = await make(leases, lease("a", { holder: "me" }));
        await client.delete(leases, at("a"));

        const [event] = await firstEvents(1, leases, { namespace, resourceVersion: a.metadata.resourceVersion ?? "" });

        expect(event).toMatchObject({ type: "DELETED", object: { metadata: { uid: a.metadata.uid }, spec: a.spec } });
        expect(eventVersion(event)).toBeGreaterThan(version(a));
      });

      it("yields an object that begins and ceases to match its label selector as added and deleted", async () => {
        const { resourceVersion } = await client.list(leases, { namespace });
        const outside = await make(leases, lease("a"));
        const inside = await relabel(outside, { team: "sre" });
        const left = await relabel(inside, { team: "dev" });
        await client.delete(leases, at("a"));
        await make(leases, lease("b", { labels: { team: "sre" } }));

        const events = await firstEvents(3, leases, { namespace, resourceVersion, labelSelector: "team=sre" });

        expect(summary(events)).toEqual(["ADDED a", "DELETED a", "ADDED b"]);
        expect(events[1]).toMatchObject({
          object: { metadata: { labels: { team: "sre" }, resourceVersion: left.metadata.resourceVersion } },
        });
      });

      it("yields the changes of one object by its name", async () => {
        const { resourceVersion } = await client.list(leases, { namespace });
        for (const name of ["a", "b"]) await make(leases, lease(name));

        const events = await firstEvents(1, leases, { namespace, resourceVersion, fieldSelector: "metadata.name=b" });

        expect(summary(events)).toEqual(["ADDED b"]);
      });

      it("is gone at a version that is older than the server's history", async () => {
        await make(contractSamples, sample("a", 1));

        const watching = firstEvents(1, contractSamples, { namespace, resourceVersion: "1" });

        await expect(watching).rejects.toMatchObject({ name: "KubeError", code: "gone" });
      });

      it("rejects a selector with a syntax error as invalid", async () => {
        const { resourceVersion } = await client.list(leases, { namespace });

        const watching = firstEvents(1, leases, { namespace, resourceVersion, labelSelector: "a in (" });

        await expect(watching).rejects.toMatchObject({ code: "invalid" });
      });

      it("ends without an error when its signal aborts, before or after it began", async () => {
        const { resourceVersion } = await client.list(leases, { namespace });
        const stop = new AbortController();

        const open = collect(leases, { namespace, resourceVersion }, stop);
        await make(leases, lease("a"));
        stop.abort();

        expect(summary(await open).filter((event) => event !== "ADDED a")).toEqual([]);
        expect(await collect(leases, { namespace, resourceVersion }, stop)).toEqual([]);
      });
    });

    it("throws aborted when the signal of the caller is already aborted", async () => {
      const { signal } = stopped();

      await expect(client.get(configMaps, at("a"), { signal })).rejects.toMatchObject({ code: "aborted" });
      await expect(client.list(configMaps, { namespace }, { signal })).rejects.toMatchObject({ code: "aborted" });
      await expect(client.create(configMaps, configMap("a"), { signal })).rejects.toMatchObject({ code: "aborted" });
      expect(await client.get(configMaps, at("a"))).toBeUndefined();
    });

    it("returns the server's time", async () => {
      const { metadata } = await make(configMaps, configMap("a"));

      const bornMs = Date.parse(metadata.creationTimestamp as string);

      expect(Math.abs(client.serverNowMs() - bornMs)).toBeLessThan(5_000);
    });

    function at(name: string) {
      return { namespace, name };
    }

    function configMap(
      name: string,
      { data, ...metadata }: { data?: Record<string, string> } & Labelled = {},
    ): ConfigMap {
      return { metadata: { ...at(name), ...metadata }, ...(data && { data }) };
    }

    function lease(name: string, { holder, ...metadata }: { holder?: string } & Labelled = {}): KubeLease {
      return { metadata: { ...at(name), ...metadata }, spec: holder === undefined ? {} : { holderIdentity: holder } };
    }

    function sample(name: string, size: number): ContractSample {
      return { metadata: at(name), spec: { size } };
    }

    async function make<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T> {
      const outcome = await client.create(type, object);
      if (outcome.kind !== "created") throw new Error(`${object.metadata.name} already exists`);
      return outcome.object;
    }

    async function relabel(read: KubeLease, labels: Record<string, string>): Promise<KubeLease> {
      return updated(await client.update(leases, { ...read, metadata: { ...read.metadata, labels } }));
    }

    function firstEvents<T extends KubeObject>(count: number, type: ResourceType<T>, query: WatchQuery) {
      return collect(type, query, new AbortController(), count);
    }

    /** Collects events until there are `count`, the stream ends, or the timeout passes. */
    async function collect<T extends KubeObject>(
      type: ResourceType<T>,
      query: WatchQuery,
      stop: AbortController,
      count = Number.POSITIVE_INFINITY,
    ): Promise<WatchEvent<T>[]> {
      const patience = systemClock().after(10_000, () => stop.abort());
      const events: WatchEvent<T>[] = [];
      try {
        for await (const event of client.watch(type, query, { signal: stop.signal })) {
          if (event.type !== "BOOKMARK") events.push(event);
          if (events.length >= count) break;
        }
      } finally {
        patience.cancel();
      }
      return events;
    }
  });
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Labelled {
  readonly labels?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

const configMaps: ResourceType<ConfigMap> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

const pods: ResourceType = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };

const budgets: ResourceType<KubeObject & { readonly spec: object }> = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
};

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
    names: { plural: "samples", singular: "sample", kind: "Sample", listKind: "SampleList" },
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
};

const namespaces: ResourceType = { apiVersion: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };

function updated<T>(outcome: UpdateOutcome<T>): T {
  if (outcome.kind !== "updated") throw new Error(`not updated: ${JSON.stringify(outcome)}`);
  return outcome.object;
}

/** The metadata that names one version of one object. */
function only({ metadata: { namespace, name, resourceVersion } }: KubeObject) {
  return {
    metadata: { namespace, name, resourceVersion } as { namespace: string; name: string; resourceVersion: string },
  };
}

function names(objects: readonly KubeObject[]) {
  return objects.map(({ metadata }) => metadata.name);
}

function version(object: KubeObject): number {
  return Number(object.metadata.resourceVersion);
}

function eventVersion(event: WatchEvent<KubeObject> | undefined): number {
  return event && event.type !== "BOOKMARK" ? version(event.object) : Number.NaN;
}

function summary(events: readonly WatchEvent<KubeObject>[]) {
  return events.map((event) =>
    event.type === "BOOKMARK" ? event.type : `${event.type} ${event.object.metadata.name}`,
  );
}

function stopped(): AbortController {
  const controller = new AbortController();
  controller.abort();
  return controller;
}
