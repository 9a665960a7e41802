import { type Key, keyName } from "../../src/coordination/key.ts";
import { KubernetesLockStore } from "../../src/coordination/kubernetes/kubernetes-lock-store.ts";
import { LeaseSweep } from "../../src/coordination/kubernetes/lease-sweep.ts";
import { locksOver } from "../../src/coordination/locks/lock-table.ts";
import { type KubeClient, KubeError, type KubeLease, leases, type WatchEvent } from "../../src/kube/index.ts";
import type { Clock } from "../../src/time/index.ts";
import { type TestCluster, testCluster } from "../doubles/test-cluster.ts";
import { falter } from "./falter.ts";
import type { Deleted } from "./lock-history.ts";
import type { Mutate } from "./lock-mutants.ts";
import { keys, type LockBackend } from "./lock-sim.ts";
import { Network } from "./network.ts";
import { Process, type World } from "./world.ts";

export const namespace = "locks";
const prefix = "sim-lock-";

export interface KubernetesBackendOptions {
  readonly mutate?: Mutate;
  readonly mutateClient?: (client: KubeClient, clock: Clock) => KubeClient;
  /** Compare clients with one another alone: for mutants that write something else into the store. */
  readonly storeIsNoYardstick?: boolean;
  /** How the janitor reaches the server. */
  readonly mutateJanitor?: (client: KubeClient, clock: Clock) => KubeClient;
  /** Messages still take their time, but nothing goes wrong. */
  readonly calm?: boolean;
}

/** One API server and the network around it. */
export function kubernetesBackend(world: World, options: KubernetesBackendOptions = {}): LockBackend {
  const server = new ApiServer(world);
  const { mutate = (store) => store, mutateClient = (client) => client } = options;
  if (options.calm) server.heal();
  else sweepNowAndThen(server, world, options.mutateJanitor);
  return {
    truth: {
      holderOf: (key) => server.holderOf(prefix + keyName(key as Key)),
      endingOf: (holder) => server.endings.get(holder),
      untrusted: options.storeIsNoYardstick ?? false,
    },
    open(process) {
      const { clock } = process;
      const random = world.chance;
      const client = mutateClient(server.clientOf(process), clock);
      const store = new KubernetesLockStore({ client, clock, random, namespace, prefix, who: process.name });
      const clientId = `${process.name}~${random.id()}`;
      return locksOver(mutate(store, process), { clock, random, who: process.name, clientId });
    },
    strike: () => server.strike(),
    heal: () => server.heal(),
  };
}

/** A hurried janitor: briefly idle Leases are removed, over the same bad network as everything else. */
function sweepNowAndThen(
  server: ApiServer,
  world: World,
  mutate: KubernetesBackendOptions["mutateJanitor"] = (client) => client,
) {
  const { chance } = world;
  const process = new Process(world, "janitor", {
    offsetMs: chance.between(-1e6, 1e6),
    rate: 1 + chance.between(-0.002, 0.002),
  });
  const client = mutate(server.clientOf(process), process.clock);
  const janitor = new LeaseSweep({ client, clock: process.clock, namespace, idleMs: chance.between(0, 500) });
  const again = () => {
    const done = ({ locks }: { locks: number }) => {
      for (let i = 0; i < locks; i++) world.struck("idle lease removed");
    };
    void janitor.sweep().then(done, () => {});
    if (!server.healed) process.clock.after(chance.between(50, 1_500), again);
  };
  again();
}

export class ApiServer {
  readonly cluster: TestCluster;
  /** How each holder's Lease ended, read off the writes as they happen. */
  readonly endings = new Map<string, "released" | "expired" | "deleted">();
  healed = false;
  readonly #holders = new Map<string, string>();
  readonly #world: World;
  /** The newest resourceVersion that a write was answered with. */
  #version = 0n;
  readonly #network: Network;

  constructor(world: World) {
    this.#world = world;
    const { chance } = world;
    const { clock } = new Process(world, "api", { offsetMs: chance.between(-1e6, 1e6), rate: 1 });
    this.cluster = testCluster({ clock, random: chance, keptChanges: 50, namespaces: [namespace] });
    const timedOut = () => new KubeError("unavailable", "the call timed out");
    this.#network = new Network(world, { timeoutMs: 1_500, timedOut });
  }

  holderOf(name: string): string | undefined {
    return this.#holders.get(name);
  }

  strike(): Deleted | undefined {
    const { chance } = this.#world;
    if (chance.happens(0.2)) {
      this.#world.struck("lock deleted by a third party");
      return this.#deleteLock(chance.pick(keys));
    }
    this.falter();
    return undefined;
  }

  /** A fault of the server itself, which loses nothing. */
  falter(): void {
    falter(this.#world, this.cluster, this.#network);
  }

  #deleteLock(key: Key): Deleted | undefined {
    const name = prefix + keyName(key);
    const holder = this.#holders.get(name);
    if (holder) this.endings.set(holder, "deleted");
    this.#holders.delete(name);
    void this.cluster.client().delete(leases, { namespace, name });
    return holder ? { holder, fence: this.#version } : undefined;
  }

  heal(): void {
    this.healed = true;
    this.#network.heal();
  }

  /** The API server as `process` reaches it: each call may be late, lost on its way or on the way back, or come twice. */
  clientOf(process: Process): KubeClient {
    const direct = this.cluster.client(process.name);
    const call = <T>(apply: () => Promise<T>) => this.#network.call(process, apply);
    return {
      get: (type, ref) => call(() => direct.get(type, ref)),
      list: (type, query) => call(() => direct.list(type, query)),
      create: (type, object) => call(() => this.#writing(process, object, () => direct.create(type, object))),
      update: (type, object) => call(() => this.#writing(process, object, () => direct.update(type, object))),
      patch: (type, ref, patch) => call(() => direct.patch(type, ref, patch)),
      delete: (type, ref, options) => call(() => this.#deleting(ref.name, () => direct.delete(type, ref, options))),
      evict: (pod, options) => call(() => direct.evict(pod, options)),
      watch: (type, query, options) => this.#watch(process, direct.watch(type, query, options)),
      serverNowMs: () => direct.serverNowMs(),
    };
  }

  /** Keeps track of holders for the checker: who ended a holding, its own process or another? */
  async #writing<T extends { kind: string }>(process: Process, object: unknown, write: () => Promise<T>): Promise<T> {
    const outcome = await write();
    if (outcome.kind !== "created" && outcome.kind !== "updated") return outcome;
    const { object: written } = outcome as unknown as { object: KubeLease };
    this.#version = BigInt(written.metadata.resourceVersion as string);
    const lease = object as KubeLease;
    const name = lease.metadata.name as string;
    const before = this.#holders.get(name);
    const after = lease.spec?.holderIdentity || undefined;
    // Freed, or handed to a waiter that still has to confirm; a holder for a whole period took it over.
    const handedOver = before?.startsWith(`${process.name}~`) && (!after || lease.spec?.leaseDurationSeconds === 5);
    if (before && before !== after) this.endings.set(before, handedOver ? "released" : "expired");
    if (after) this.#holders.set(name, after);
    else this.#holders.delete(name);
    return outcome;
  }

  async #deleting<T extends { kind: string }>(name: string, remove: () => Promise<T>): Promise<T> {
    const outcome = await remove();
    const holder = this.#holders.get(name);
    if (outcome.kind !== "deleted" || !holder) return outcome;
    this.endings.set(holder, "expired");
    this.#holders.delete(name);
    return outcome;
  }

  async *#watch<T>(process: Process, events: AsyncIterable<WatchEvent<T>>): AsyncIterable<WatchEvent<T>> {
    for await (const event of events) {
      await new Promise<void>((resolve) => this.#world.in(this.#network.delay(), () => process.handle(resolve)));
      yield event;
    }
  }
}
