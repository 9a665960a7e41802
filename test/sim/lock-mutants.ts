import type { CoordinationError } from "../../src/coordination/errors.ts";
import type { Bid, Grant, LockStore, Terms } from "../../src/coordination/locks/lock-store.ts";
import type { KubeClient, KubeLease } from "../../src/kube/index.ts";
import type { Clock } from "../../src/time/index.ts";
import type { Process } from "./world.ts";

/** What a mutant is built from: the real store of a process, to be spoilt. */
export type Mutate = (store: LockStore, process: Process) => LockStore;

/** Goes on as if a renewal that got no answer had succeeded: nothing but the backend's reply ends a lease. */
export const noLocalDeadline: Mutate = (store, { clock }) => ({
  ...delegate(store),
  async renew(grant) {
    const answer = await store.renew(grant);
    return answer.kind === "unknown" ? pretended(grant, clock) : answer;
  },
});

/** Does not look at what the backend answers to a renewal. */
export const renewalResultIgnored: Mutate = (store, { clock }) => ({
  ...delegate(store),
  async renew(grant) {
    const answer = await store.renew(grant);
    return answer.kind === "lost" ? pretended(grant, clock) : answer;
  },
});

/** Asks again every now and then instead of standing in line (seed 002). */
export const pollsWithoutOrder: Mutate = (store, { clock }) => {
  const withdrawn = new WeakSet<Bid>();
  const poll = (bid: Bid): void => {
    if (withdrawn.has(bid)) return;
    const once = Object.create(bid, { wait: { value: false } });
    for (const field of ["ttlMs", "purpose", "key", "holder", "cohort"] as const) {
      Object.defineProperty(once, field, { get: () => bid[field] });
    }
    once.granted = (terms: Terms) => bid.granted(terms);
    once.failed = (error: CoordinationError) => bid.failed(error);
    once.busy = () => void clock.after(100, () => poll(bid));
    store.ask(once);
  };
  return { ...delegate(store), ask: poll, withdraw: (bid) => void withdrawn.add(bid) };
};

/** Names the process as the holder, not the acquisition. */
export const holderIsPod: Mutate = (store, { name }) => {
  const disguises = new WeakMap<Bid, Bid>();
  const disguise = (bid: Bid): Bid => {
    const known = disguises.get(bid);
    if (known) return known;
    const client = bid.holder.split(".")[0];
    const disguised = Object.create(bid, { holder: { value: `${client}.${name}` } });
    // The bid's own methods need its private state, so they are called on it.
    for (const method of ["granted", "queued", "busy", "failed"] as const) {
      disguised[method] = (answer: never) => bid[method](answer);
    }
    for (const field of ["ttlMs", "purpose", "key", "wait", "cohort"] as const) {
      Object.defineProperty(disguised, field, { get: () => bid[field] });
    }
    disguises.set(bid, disguised);
    return disguised;
  };
  const inDisguise = (grant: Grant): Grant => ({
    bid: disguise(grant.bid),
    fence: grant.fence,
    deadline: grant.deadline,
  });
  return {
    ...delegate(store),
    ask: (bid) => store.ask(disguise(bid)),
    withdraw: (bid) => store.withdraw(disguise(bid)),
    renew: (grant) => store.renew(inDisguise(grant)),
    release: (grant) => store.release(inDisguise(grant)),
  };
};

/** Decides by the times written in a Lease, against the local wall clock, whether its holder is gone. */
export function expiryByRemoteClock(client: KubeClient, clock: Clock): KubeClient {
  const judged = <T>(object: T): T => {
    const lease = object as KubeLease;
    const renewed = Date.parse(lease?.spec?.renewTime ?? "");
    const expired = renewed + (lease?.spec?.leaseDurationSeconds ?? 0) * 1_000 < clock.wallMs();
    return expired ? ({ ...lease, spec: { ...lease.spec, holderIdentity: "" } } as T) : object;
  };
  return {
    ...client,
    get: async (type, ref) => judged(await client.get(type, ref)),
    async list(type, query, call) {
      const list = await client.list(type, query, call);
      return { ...list, items: list.items.map(judged) };
    },
  };
}

/** Deletes the Lease by name when done, regardless of its holder by then. */
export function releaseByName(client: KubeClient): KubeClient {
  return {
    ...client,
    async update(type, object, call) {
      const { holderIdentity } = (object as KubeLease).spec ?? {};
      if (holderIdentity) return client.update(type, object, call);
      const { name = "", namespace = "" } = object.metadata;
      await client.delete(type, { name, namespace });
      return { kind: "updated", object };
    },
  };
}

function delegate(store: LockStore): LockStore {
  return {
    guarantee: store.guarantee,
    ask: (bid) => store.ask(bid),
    withdraw: (bid) => store.withdraw(bid),
    renew: (grant) => store.renew(grant),
    release: (grant) => store.release(grant),
    close: () => store.close(),
  };
}

function pretended({ bid }: Grant, clock: Clock) {
  return { kind: "ok", deadline: clock.now() + bid.ttlMs, periodMs: bid.ttlMs } as const;
}
