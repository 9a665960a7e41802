import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { Chance } from "../../../test/sim/chance.ts";
import { type KubeClient, leases } from "../../kube/index.ts";
import { keyName, keyOf } from "../key.ts";
import { kubernetesClaims } from "./kubernetes-claims.ts";
import { kubernetesLocks } from "./kubernetes-locks.ts";
import { LeaseSweep } from "./lease-sweep.ts";

const namespace = "locks";
const minute = 60_000;
const key = keyOf("target", "a");

describe("the sweep of Leases", () => {
  it("removes a lock that was free and untouched for long enough", async () => {
    const { locks, sweep, clock, left } = world();
    await (await locks().acquire(key)).release();

    const first = await sweep();
    await clock.advance(10 * minute - 1);
    const early = await sweep();
    await clock.advance(1);
    const late = await sweep();

    expect([first, early, late]).toEqual([nothing, nothing, { locks: 1, claims: 0 }]);
    expect(await left()).toEqual([]);
  });

  it("counts from when it saw the Lease for the first time, whatever times are written in it", async () => {
    const { locks, sweep, clock } = world();
    await (await locks().acquire(key)).release();
    await clock.advance(60 * minute);

    expect(await sweep()).toEqual(nothing);
  });

  it("keeps a lock that was used in between", async () => {
    const { locks, sweep, clock } = world();
    const user = locks();
    await (await user.acquire(key)).release();
    await sweep();
    await clock.advance(9 * minute);
    await (await user.acquire(key)).release();
    await clock.advance(9 * minute);

    expect(await sweep()).toEqual(nothing);
  });

  it("keeps a lock that is held, for however long", async () => {
    const { locks, sweep, clock } = world();
    const lease = await locks().acquire(key);
    await sweep();
    await clock.advance(30 * minute);

    expect(await sweep()).toEqual(nothing);
    lease.assertHeld();
  });

  it("removes the Leases of crashed holders and waiters", async () => {
    const { locks, sweep, clock, at, client } = world();
    await client.create(leases, {
      metadata: {
        ...at,
        labels: { "app.kubernetes.io/managed-by": "interlock", "kubernaut.ai/kind": "lock" },
        annotations: { "kubernaut.ai/key": key, "kubernaut.ai/waiters": "dead-1,dead-2" },
      },
      spec: { holderIdentity: "dead", leaseDurationSeconds: 30 },
    });
    await sweep();
    await clock.advance(10 * minute);

    expect(await sweep()).toEqual({ locks: 1, claims: 0 });
    (await locks().acquire(key)).assertHeld();
  });

  it("waits for the end of a lease that lasts longer than a lock may be idle", async () => {
    const { locks, sweep, clock } = world({ idleMs: 1_000 });
    const crashed = locks({ stop: true });
    await crashed.acquire(key, { ttlMs: 60_000 });
    await sweep();
    await clock.advance(50_000);
    const early = await sweep();
    await clock.advance(12_000);

    expect([early, await sweep()]).toEqual([nothing, { locks: 1, claims: 0 }]);
  });

  it("lets fences go on, although the Lease is made anew", async () => {
    const { locks, sweep, clock } = world();
    const user = locks();
    const before = await user.acquire(key);
    await before.release();
    await sweep();
    await clock.advance(10 * minute);
    await sweep();

    const after = await user.acquire(key);

    expect(after.fence).toBeGreaterThan(before.fence);
  });

  it("leaves a lock alone that was taken after it looked", async () => {
    const { client, locks, clock } = world();
    const user = locks();
    await (await user.acquire(key)).release();
    let taken = await Promise.resolve(undefined as Awaited<ReturnType<typeof user.acquire>> | undefined);
    let armed = false;
    const slow: KubeClient = {
      ...client,
      async delete(...args) {
        if (armed) taken ??= await user.acquire(key);
        return client.delete(...args);
      },
    };
    const leaseSweep = new LeaseSweep({ client: slow, clock, namespace, idleMs: 10 * minute });
    await leaseSweep.sweep();
    await clock.advance(10 * minute);
    armed = true;

    expect(await leaseSweep.sweep()).toEqual(nothing);
    expect(taken?.remainingMs()).toBeGreaterThan(0);
    await clock.advance(minute);
    taken?.assertHeld();
  });

  it("removes claims that are no longer remembered, and nothing of others", async () => {
    const { client, claims, sweep, clock, left } = world();
    const [spent, kept, working] = [keyOf("spent"), keyOf("kept"), keyOf("working")];
    await done(claims.claim(spent, { doneTtlMs: 1_000 }));
    await done(claims.claim(kept));
    await claims.claim(working);
    await client.create(leases, { metadata: { namespace, name: "not-ours" } });
    await clock.advance(1_000);

    const swept = await sweep();

    expect(swept).toEqual({ locks: 0, claims: 1 });
    expect(await left()).toEqual([`claim-${keyName(kept)}`, `claim-${keyName(working)}`, "not-ours"].sort());
  });
});

const nothing = { locks: 0, claims: 0 };

function world({ idleMs = 10 * minute } = {}) {
  const clock = new ManualClock();
  const random = new Chance(5);
  const cluster = testCluster({ clock, random, namespaces: [namespace] });
  const client = cluster.client();
  const leaseSweep = new LeaseSweep({ client, clock, namespace, idleMs });
  /** `stop`: a process that stands still after its first write. */
  const locks = ({ stop = false } = {}) => {
    const stopped: KubeClient = { ...client, update: () => new Promise(() => {}) };
    const options = { clock, random, namespace, prefix: "gw-lock-", who: "a" };
    return kubernetesLocks({ ...options, client: stop ? stopped : client });
  };
  const claims = kubernetesClaims({ client, clock, random, namespace, who: "a" });
  const left = async () => (await client.list(leases, { namespace })).items.map(({ metadata }) => metadata.name).sort();
  const at = { namespace, name: `gw-lock-${keyName(key)}` };
  return { clock, client, locks, claims, at, left, sweep: () => leaseSweep.sweep() };
}

async function done(asked: Promise<{ readonly state: string }>) {
  const claim = await asked;
  if (!("complete" in claim)) throw new Error(`it is ${claim.state}`);
  await (claim.complete as () => Promise<unknown>)();
}
