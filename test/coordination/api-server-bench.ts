import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { type Key, keyName, keyOf } from "../../src/coordination/key.ts";
import { kubernetesLocks } from "../../src/coordination/kubernetes/kubernetes-locks.ts";
import { lockLabels } from "../../src/coordination/kubernetes/lease-rules.ts";
import type { Ability, LockBench } from "../../src/coordination/locks/locks.contract.ts";
import type { Locks } from "../../src/coordination/locks/locks.ts";
import { type KubeClient, leases, microTime, namespaces } from "../../src/kube/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { ProcessClock } from "../doubles/process-clock.ts";
import { StoppableClock } from "../doubles/stoppable-clock.ts";

/** The abilities of a server of which only the address is known. */
export const apiServerAbilities: readonly Ability[] = ["processes", "records"];

/** Long enough for a busy machine to renew in time, short enough to wait for. */
const ttlMs = 2_000;
const prefix = "test-lock-";

/** Locks on a real API server, on real time, in a namespace of their own. */
export async function apiServerLockBench(connect: () => KubeClient): Promise<LockBench> {
  const admin = connect();
  const { namespace, remove } = await freshNamespace(admin);
  const base = new StoppableClock();
  const clocks = new Map<Locks, ProcessClock>();
  const of = (client: Locks) => clocks.get(client) as ProcessClock;
  const at = (key: Key) => ({ namespace, name: prefix + keyName(key) });
  const impossible = () => {
    throw new TypeError("nothing stands between the clients and this server");
  };
  return {
    abilities: apiServerAbilities,
    guarantee: "consensus",
    ttlMs,
    timeoutMs: 3_000,
    manyKeys: 50,
    async client({ skewMs = 0, events = {} } = {}) {
      const clock = new ProcessClock(base, { skewMs });
      const who = `test/pod/${clocks.size + 1}`;
      const defaults = { ttlMs, waitMs: 3_600_000 };
      const random = systemRandom();
      const locks = kubernetesLocks({ client: connect(), clock, random, namespace, prefix, who, events, defaults });
      clocks.set(locks, clock);
      return locks;
    },
    wallMs: () => base.wallMs(),
    advance: (ms) => wait(ms),
    settle: () => turn(),
    quiet: () => wait(200),
    pause: (client) => of(client).pause(),
    resume: (client) => of(client).resume(),
    vanish: (client) => of(client).crash(),
    sever: impossible,
    refuse: impossible,
    slowReplies: impossible,
    loseNextReply: impossible,
    deafen: impossible,
    heal: impossible,
    requests: impossible,
    async holderOf(key) {
      return (await admin.get(leases, at(key)))?.spec?.holderIdentity || undefined;
    },
    async deleteStored(key) {
      await admin.delete(leases, at(key));
    },
    async occupy(key) {
      const annotations = { "kubernaut.ai/key": keyOf("somebody", "else") };
      const renewTime = microTime(base.wallMs());
      const spec = { holderIdentity: "somebody", leaseDurationSeconds: 30, renewTime };
      await admin.create(leases, { metadata: { ...at(key), labels: lockLabels, annotations }, spec });
    },
    damage() {
      throw new TypeError("a damaged Lease blocks for 30 s, which is long on real time");
    },
    forbid: impossible,
    async close() {
      await Promise.all([...clocks.keys()].map((locks) => Promise.race([locks.close(), wait(3_000)])));
      base.stop();
      await remove();
    },
  };
}

/** So that no case sees what another left. */
export async function freshNamespace(admin: KubeClient) {
  const namespace = `interlock-test-${systemRandom()
    .id()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "x")}`;
  await admin.create(namespaces, { metadata: { name: namespace } });
  return { namespace, remove: async () => void (await admin.delete(namespaces, { name: namespace })) };
}
