import { type Key, keyName, keyOf } from "../../src/coordination/key.ts";
import { KubernetesLockStore } from "../../src/coordination/kubernetes/kubernetes-lock-store.ts";
import { kubernetesLocks } from "../../src/coordination/kubernetes/kubernetes-locks.ts";
import { locksOver } from "../../src/coordination/locks/lock-table.ts";
import type { Ability } from "../../src/coordination/locks/locks.contract.ts";
import type { Locks } from "../../src/coordination/locks/locks.ts";
import { type KubeClient, KubeError, type KubeLease, leases, type WatchEvent } from "../../src/kube/index.ts";
import { testCluster } from "../doubles/test-cluster.ts";
import { Chance } from "../sim/chance.ts";
import {
  type Spoilt,
  type VirtualBench,
  type VirtualBenchOptions,
  type VirtualProcess,
  virtualBench,
} from "./virtual-bench.ts";
import type { Wire } from "./wire.ts";

export const kubernetesAbilities: readonly Ability[] = [
  "processes",
  "network",
  "records",
  "damage",
  "permissions",
  "deafness",
];

const namespace = "locks";
const prefix = "test-lock-";

/** Leases in an API server inside the process, each client behind a wire that can fail. */
export function kubernetesLockBench(options: VirtualBenchOptions = {}): VirtualBench {
  return virtualBench((clock) => {
    const cluster = testCluster({ clock, random: new Chance(3), keptChanges: 5_000, namespaces: [namespace] });
    const admin = cluster.client();
    const at = (key: Key) => ({ namespace, name: prefix + keyName(key) });
    return {
      abilities: kubernetesAbilities,
      guarantee: "consensus",
      open(process) {
        const client = overWire(cluster.client(process.options.who), process.wire);
        return openKubernetes(process, client, options.spoilt);
      },
      async holderOf(key) {
        return (await admin.get(leases, at(key)))?.spec?.holderIdentity || undefined;
      },
      async deleteStored(key) {
        await admin.delete(leases, at(key));
      },
      async occupy(key) {
        await admin.create(leases, storedLease(at(key), keyOf("somebody", "else"), spec(clock.wallMs())));
      },
      async damage(key) {
        await admin.create(leases, storedLease(at(key), key, { holderIdentity: "who-knows" }));
      },
      forbid: (verb) => cluster.forbid(verb, "leases"),
    };
  }, options);
}

function openKubernetes(process: VirtualProcess, direct: KubeClient, { client, store }: Spoilt = {}): Locks {
  const options = { ...process.options, client: client?.(direct, process) ?? direct, namespace, prefix };
  return store ? locksOver(store(new KubernetesLockStore(options), process), options) : kubernetesLocks(options);
}

/** The API server as reached over `wire`. A deaf watch stays open and delivers nothing until the deafness ends. */
function overWire(direct: KubeClient, wire: Wire): KubeClient {
  const call = async <T>(apply: () => Promise<T>): Promise<T> => {
    try {
      return await wire.call(apply);
    } catch (error) {
      throw error instanceof KubeError ? error : new KubeError("unavailable", String(error), { cause: error });
    }
  };
  return {
    get: (type, ref, options) => call(() => direct.get(type, ref, options)),
    list: (type, query, options) => call(() => direct.list(type, query, options)),
    create: (type, object, options) => call(() => direct.create(type, object, options)),
    update: (type, object, options) => call(() => direct.update(type, object, options)),
    patch: (type, ref, patch, options) => call(() => direct.patch(type, ref, patch, options)),
    delete: (type, ref, options, rest) => call(() => direct.delete(type, ref, options, rest)),
    evict: (pod, options, rest) => call(() => direct.evict(pod, options, rest)),
    watch: (type, query, options) => audible(direct.watch(type, query, options), wire),
    serverNowMs: () => direct.serverNowMs(),
  };
}

async function* audible<T>(events: AsyncIterable<WatchEvent<T>>, wire: Wire): AsyncIterable<WatchEvent<T>> {
  for await (const event of events) {
    if (wire.isReceiving) yield event;
    else if (!wire.looksOpen) throw new KubeError("unavailable", "the watch broke off");
  }
}

function storedLease(at: { namespace: string; name: string }, key: Key, rest: KubeLease["spec"]): KubeLease {
  const labels = { "app.kubernetes.io/managed-by": "interlock", "kubernaut.ai/kind": "lock" };
  return { metadata: { ...at, labels, annotations: { "kubernaut.ai/key": key } }, spec: rest ?? {} };
}

function spec(wallMs: number): KubeLease["spec"] {
  const time = new Date(wallMs).toISOString().replace("Z", "000Z");
  return { holderIdentity: "somebody", leaseDurationSeconds: 30, acquireTime: time, renewTime: time };
}
