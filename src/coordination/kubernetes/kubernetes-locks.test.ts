import { describe, expect, it } from "vitest";
import { kubernetesAbilities, kubernetesLockBench } from "../../../test/coordination/kubernetes-lock-bench.ts";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { Chance } from "../../../test/sim/chance.ts";
import { type KubeClient, KubeError, leases } from "../../kube/index.ts";
import { keyName, keyOf } from "../key.ts";
import { locksContract } from "../locks/locks.contract.ts";
import type { Locks } from "../locks/locks.ts";
import { kubernetesLocks } from "./kubernetes-locks.ts";

locksContract("kubernetes", async () => kubernetesLockBench(), { abilities: kubernetesAbilities });

const key = keyOf("target", "a");

describe("a lock in Kubernetes", () => {
  it("is a Lease with readable annotations", async () => {
    const { open, stored, clock } = world();

    const { holder } = await open("gateway/pod-1/7").acquire(key, { ttlMs: 15_000, purpose: "alert 42" });

    const time = new Date(clock.wallMs()).toISOString().replace("Z", "000Z");
    expect(await stored()).toMatchObject({
      metadata: {
        name: `gw-lock-${keyName(key)}`,
        labels: { "app.kubernetes.io/managed-by": "interlock", "kubernaut.ai/kind": "lock" },
        annotations: {
          "kubernaut.ai/key": key,
          "kubernaut.ai/holder": "gateway/pod-1/7",
          "kubernaut.ai/purpose": "alert 42",
        },
      },
      spec: {
        holderIdentity: holder,
        leaseDurationSeconds: 15,
        acquireTime: time,
        renewTime: time,
        leaseTransitions: 1,
      },
    });
  });

  it("has the version of the write that took it as its fence", async () => {
    const { open, stored } = world();

    const { fence } = await open("a").acquire(key);

    expect(fence).toBe(BigInt((await stored())?.metadata.resourceVersion as string));
  });

  it("leaves a free Lease, which the next holder takes", async () => {
    const { open, stored } = world();
    await (await open("a").acquire(key)).release();
    const free = await stored();

    await open("b").acquire(key);

    expect(free?.spec?.holderIdentity).toBe("");
    expect((await stored())?.metadata.uid).toBe(free?.metadata.uid);
    expect((await stored())?.spec?.leaseTransitions).toBe(2);
  });

  it("is created again when the free Lease was removed", async () => {
    const { open, admin, at } = world();
    const locks = open("a");
    const first = await locks.acquire(key);
    await first.release();
    await admin.delete(leases, at);

    const second = await locks.acquire(key);

    expect(second.fence).toBeGreaterThan(first.fence);
  });

  it("is not lost when another client edits its Lease", async () => {
    const { open, admin, at, clock } = world();
    const lease = await open("a").acquire(key, { ttlMs: 6_000 });

    await admin.patch(leases, at, { merge: { metadata: { annotations: { "example.com/note": "hello" } } } });
    await clock.advance(12_000);

    lease.assertHeld();
    expect(await lease.release()).toEqual({ released: true });
  });

  it.each([
    ["ended", (cluster: ReturnType<typeof world>["cluster"]) => cluster.dropWatches()],
    ["has fallen too far behind", (cluster: ReturnType<typeof world>["cluster"]) => cluster.compact()],
  ])("reaches a waiter whose watch %s", async (_what, befall) => {
    const { open, cluster, clock } = world();
    const first = await open("a").acquire(key, { ttlMs: 6_000 });
    const waiting = open("b").acquire(key, { ttlMs: 6_000 });
    await clock.advance(100);

    befall(cluster);
    await first.release();
    await clock.advance(1_000);

    (await waiting).assertHeld();
  });

  it("is released at once by a live process whose abandoned bid was granted", async () => {
    const { open, admin, at, stored, clock } = world();
    const first = await open("a").acquire(key, { ttlMs: 6_000 });
    const impatient = open("b").acquire(key, { ttlMs: 6_000, waitMs: 1_000 });
    await clock.advance(500);
    const joined = await stored();
    await expect(Promise.all([impatient, clock.advance(1_000)])).rejects.toMatchObject({ code: "timeout" });

    // As if the write by which it joined the line were carried out only now.
    const { annotations = {} } = joined?.metadata ?? {};
    await admin.patch(leases, at, { merge: { metadata: { annotations } } });
    await first.release();
    await clock.advance(100);

    expect((await stored())?.spec?.holderIdentity).toBe("");
  });

  it("is not lost when a connection dies silently: another one is tried in time", async () => {
    const { cluster, clock, random } = world();
    const client = cluster.client();
    let isDead = false;
    const dying: KubeClient = {
      ...client,
      update(type, object, call) {
        if (!isDead) return client.update(type, object, call);
        return new Promise((_resolve, reject) => {
          call?.signal?.addEventListener("abort", () => {
            isDead = false;
            reject(new KubeError("aborted", "given up"));
          });
        });
      },
    };
    const locks = kubernetesLocks({ client: dying, clock, random, namespace: "locks", prefix: "gw-lock-" });
    const lease = await locks.acquire(key, { ttlMs: 12_000 });
    isDead = true;

    await clock.advance(60_000);

    lease.assertHeld();
    expect(isDead).toBe(false);
  });

  it("is not rejected because of a watch that is silent", async () => {
    const { open, cluster, clock, random } = world();
    const held = await open("a").acquire(key);
    const deaf: KubeClient = {
      ...cluster.client("b"),
      async *watch() {
        await new Promise(() => {});
      },
    };
    const locks = kubernetesLocks({ client: deaf, clock, random, namespace: "locks", prefix: "gw-lock-" });
    const before = await locks.tryAcquire(key);
    await held.release();

    const after = await locks.tryAcquire(key);

    expect(before).toBeUndefined();
    expect(after?.fence).toBeGreaterThan(held.fence);
  });

  it("serves more processes than its queue holds, each once", async () => {
    const { open, clock } = world();
    const served: string[] = [];
    const first = await open("first").acquire(key, { ttlMs: 6_000 });
    const runs = Array.from({ length: 40 }, (_, i) => {
      return open(`p${i}`).run(key, async () => void served.push(`p${i}`), { ttlMs: 6_000, waitMs: 600_000 });
    });
    await clock.advance(1_000);

    await first.release();
    await clock.advance(60_000);
    await Promise.all(runs);

    expect(new Set(served).size).toBe(40);
  });
});

function world() {
  const clock = new ManualClock();
  const random = new Chance(11);
  const cluster = testCluster({ clock, random, namespaces: ["locks"] });
  const admin = cluster.client();
  const at = { namespace: "locks", name: `gw-lock-${keyName(key)}` };
  const open = (who: string): Locks =>
    kubernetesLocks({ client: cluster.client(who), clock, random, who, namespace: "locks", prefix: "gw-lock-" });
  return { clock, random, cluster, admin, at, open, stored: () => admin.get(leases, at) };
}
