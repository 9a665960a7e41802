import {
  type Call,
  type CreateOutcome,
  type KubeClient,
  type KubeLease,
  leases,
  setNewest,
  type UpdateOutcome,
} from "../../kube/index.ts";
import { type Clock, type Random, sleep, timeLimit } from "../../time/index.ts";
import { CoordinationError } from "../errors.ts";
import { keyName } from "../key.ts";
import { type RenewalResult, type Validity, validityFrom } from "../lease-renewer.ts";
import type { Bid, Grant, LockStore } from "../locks/lock-store.ts";
import type { Guarantee, ReleaseOutcome } from "../locks/locks.ts";
import * as rules from "./lease-rules.ts";
import { LeaseWatch } from "./lease-watch.ts";
import { OpenBid } from "./open-bid.ts";
import { fromKubeError } from "./refusal.ts";

export interface KubernetesLockStoreOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  /** First part of the Lease names: `gw-lock-`, `ro-lock-`, `agent-lock-`. */
  readonly prefix: string;
  readonly who: string;
}

/** A waiting bid reads the Lease after this time, in case the watch is silent. */
const maxSilenceMs = 10_000;
/** One call may take a sixth of the ttl, but at least a second: a slow server is not a dead one. */
const triesPerTtl = 6;
const minTryMs = 1_000;
/** How often an unclear response is retried before the call rejects with `unavailable`. */
const maxTries = 3;
/** Abandoned bids that are remembered. Further ones are left to expiry. */
const maxAbandoned = 1_000;

/** Locks as Lease objects: each change is one compare-and-swap on the resourceVersion, which is also the fence. */
export class KubernetesLockStore implements LockStore {
  readonly guarantee: Guarantee = "consensus";
  readonly #options: KubernetesLockStoreOptions;
  readonly #watch: LeaseWatch;
  /** The unanswered bid of each Lease name. The traces of an earlier, withdrawn bid may still be removed meanwhile. */
  readonly #open = new Map<string, OpenBid>();
  /** The Lease as we last wrote it, by granted bid. Weak, because a lost lease may never be released. */
  readonly #held = new WeakMap<Bid, KubeLease>();
  /** Bids that were given up and may still appear on the server, by holder. */
  readonly #abandoned = new Map<string, OpenBid>();
  readonly #pursuits = new Set<Promise<void>>();

  constructor(options: KubernetesLockStoreOptions) {
    this.#options = options;
    this.#watch = new LeaseWatch({
      ...options,
      changed: (name) => {
        this.#open.get(name)?.wake();
        this.#freeIfAbandoned(name);
      },
    });
  }

  ask(bid: Bid): void {
    const open = new OpenBid(bid, this.#leaseName(bid));
    this.#open.set(open.name, open);
    const pursuit = this.#pursue(open).finally(() => this.#pursuits.delete(pursuit));
    this.#pursuits.add(pursuit);
  }

  withdraw(bid: Bid): void {
    const open = this.#open.get(this.#leaseName(bid));
    if (open?.bid === bid) open.withdraw();
  }

  async renew({ bid }: Grant): Promise<RenewalResult> {
    try {
      return await this.#rewrite<RenewalResult>(
        bid,
        (lease) => rules.takeLease(lease, this.#claimant(bid), this.#wallMs()),
        {
          written: (_lease, promised) => ({ kind: "ok", ...promised }),
          notOurs: (lease) => ({ kind: "lost", holder: lease && rules.describeHolder(lease) }),
        },
      );
    } catch (cause) {
      return { kind: "unknown", cause };
    }
  }

  async release({ bid, deadline }: Grant): Promise<ReleaseOutcome> {
    const { clock, random } = this.#options;
    for (let unclear = false; ; unclear = true) {
      try {
        return await this.#rewrite<ReleaseOutcome>(bid, (lease) => rules.handOverLease(lease, this.#wallMs()), {
          written: () => released,
          // Before the deadline no other holder can take it, so an earlier attempt succeeded; later, the outcome is unknown.
          notOurs: () => (!unclear ? lost : clock.now() < deadline ? released : unknown),
        });
      } catch {
        if (clock.now() >= deadline) return unknown;
        await sleep(clock, 50 + 150 * random.fraction());
      } finally {
        if (!unclear) this.#held.delete(bid);
      }
    }
  }

  async close(): Promise<void> {
    for (const open of this.#open.values()) open.withdraw();
    await Promise.all(this.#pursuits);
    this.#watch.close();
  }

  /** Drives one bid until it is granted, rejected or withdrawn, and then removes its traces on the server. */
  async #pursue(open: OpenBid) {
    const { bid } = open;
    let failures = 0;
    while (!open.over) {
      try {
        await this.#step(open);
        failures = 0;
      } catch (error) {
        const problem = fromKubeError(bid.key, error);
        if (problem.code === "forbidden" || ++failures >= maxTries) this.#respond(open, () => bid.failed(problem));
        else await sleep(this.#options.clock, 50 + 150 * this.#options.random.fraction());
      }
    }
    this.#forget(open);
    if (!open.leftTraces) return;
    setNewest(this.#abandoned, [bid.holder, open], maxAbandoned);
    await this.#retract(open);
  }

  /** A write of an abandoned bid may arrive late. If it is granted the lock, only this process can detect that no caller wants it. */
  #freeIfAbandoned(name: string) {
    const lease = this.#watch.get(name)?.lease;
    const open = lease && this.#abandoned.get(rules.holderOf(lease));
    if (!open || open.retracting) return;
    const freed = this.#retract(open).finally(() => this.#pursuits.delete(freed));
    this.#pursuits.add(freed);
  }

  async #step(open: OpenBid): Promise<void> {
    const { bid } = open;
    // After a missing response or a conflict the cached Lease is outdated: read.
    if (open.mustRead) await this.#read(open);
    const observed = this.#watch.get(open.name);
    const me = this.#claimant(bid);
    const move = rules.nextMove(observed, me, this.#options.clock.now());
    // The watch may be late or silent. It can wake waiters, but cannot reject them.
    if (move.do === "give-up" && !open.hasRead) return this.#read(open);
    switch (move.do) {
      case "create":
        return this.#take(open, rules.newLease(open.name, this.#options.namespace, me, this.#wallMs()));
      case "take":
      case "confirm":
        return this.#take(open, rules.takeLease(observed?.lease as KubeLease, me, this.#wallMs()));
      case "join":
        return this.#join(open, rules.addWaiter(observed?.lease as KubeLease, bid.holder));
      case "wait":
        bid.queued(observed && rules.describeHolder(observed.lease));
        return this.#wait(open, move.until);
      case "give-up":
        return this.#respond(open, () =>
          move.because === "busy"
            ? bid.busy(observed && rules.describeHolder(observed.lease))
            : bid.failed(new CoordinationError("collision", `${bid.key}: Lease ${open.name} belongs to another key`)),
        );
    }
  }

  /** One conditional write that acquires the lock unless another writer is faster. */
  async #take(open: OpenBid, lease: KubeLease) {
    const { client, clock } = this.#options;
    const { bid } = open;
    const sentAt = clock.now();
    open.leftTraces = open.mustRead = true;
    const outcome = await this.#withTimeout<CreateOutcome<KubeLease> | UpdateOutcome<KubeLease>>(bid, (call) =>
      lease.metadata.resourceVersion ? client.update(leases, lease, call) : client.create(leases, lease, call),
    );
    if (outcome.kind !== "created" && outcome.kind !== "updated") return;

    this.#watch.put(outcome.object);
    if (open.over) return;
    this.#held.set(bid, outcome.object);
    open.leftTraces = false;
    const fence = BigInt(outcome.object.metadata.resourceVersion as string);
    this.#respond(open, () =>
      bid.granted({ fence, fences: 1, ...validityFrom(sentAt, rules.periodOf(outcome.object), rules.marginMs) }),
    );
  }

  async #join(open: OpenBid, lease: KubeLease) {
    open.leftTraces = open.mustRead = true;
    const outcome = await this.#withTimeout(open.bid, (call) => this.#options.client.update(leases, lease, call));
    if (outcome.kind !== "updated") return;
    open.mustRead = false;
    this.#watch.put(outcome.object);
  }

  async #read(open: OpenBid) {
    const lease = await this.#find(open.bid);
    if (lease) this.#watch.put(lease);
    else this.#watch.forget(open.name);
    open.mustRead = false;
    open.hasRead = true;
  }

  async #wait(open: OpenBid, until: number) {
    const { clock, random } = this.#options;
    const now = clock.now();
    const silence = maxSilenceMs * (0.9 + 0.2 * random.fraction());
    const woken = await open.sleep(clock, Math.min(until - now, silence));
    if (!woken && until > clock.now()) open.mustRead = true;
  }

  #respond(open: OpenBid, respond: () => void) {
    if (open.over) return;
    open.over = true;
    this.#forget(open);
    respond();
  }

  #forget(open: OpenBid) {
    if (this.#open.get(open.name) === open) this.#open.delete(open.name);
  }

  /** Removes an abandoned bid from the queue, or releases the lock that it was granted meanwhile. */
  async #retract(open: OpenBid) {
    const { client, clock, random } = this.#options;
    const { holder, ttlMs } = open.bid;
    const giveUpAt = clock.now() + ttlMs;
    open.retracting = true;
    while (clock.now() < giveUpAt) {
      try {
        const lease = await this.#find(open.bid);
        if (!lease || (rules.holderOf(lease) !== holder && !rules.isWaiting(lease, holder))) break;
        const without =
          rules.holderOf(lease) === holder
            ? rules.handOverLease(lease, this.#wallMs())
            : rules.removeWaiter(lease, holder);
        const outcome = await this.#withTimeout(open.bid, (call) => client.update(leases, without, call));
        if (outcome.kind === "updated") this.#watch.put(outcome.object);
      } catch (error) {
        if (fromKubeError(open.bid.key, error).code === "forbidden") break;
        await sleep(clock, 50 + 150 * random.fraction());
      }
    }
    open.retracting = false;
  }

  /** Writes `change` of the Lease we hold, by its resourceVersion; reads it again when a waiter was faster. */
  async #rewrite<T>(
    bid: Bid,
    change: (lease: KubeLease) => KubeLease,
    respond: { written(lease: KubeLease, promised: Validity): T; notOurs(lease: KubeLease | undefined): T },
  ): Promise<T> {
    const { client, clock } = this.#options;
    let lease = this.#held.get(bid);
    for (;;) {
      lease ??= await this.#find(bid);
      if (!lease || rules.holderOf(lease) !== bid.holder) return respond.notOurs(lease);
      const sentAt = clock.now();
      const next = change(lease);
      const outcome = await this.#withTimeout(bid, (call) => client.update(leases, next, call));
      if (outcome.kind === "updated") {
        this.#watch.put(outcome.object);
        if (this.#held.has(bid)) this.#held.set(bid, outcome.object);
        return respond.written(outcome.object, validityFrom(sentAt, rules.periodOf(outcome.object), rules.marginMs));
      }
      lease = undefined;
    }
  }

  #find(bid: Bid): Promise<KubeLease | undefined> {
    const { client, namespace } = this.#options;
    return this.#withTimeout(bid, (call) => client.get(leases, { namespace, name: this.#leaseName(bid) }, call));
  }

  /** Limits a call to a part of the ttl, so that a dead connection leaves time to try another one. */
  async #withTimeout<T>({ ttlMs }: Bid, send: (call: Call) => Promise<T>): Promise<T> {
    using limit = timeLimit(this.#options.clock, Math.max(minTryMs, ttlMs / triesPerTtl));
    return await send({ signal: limit.signal });
  }

  #claimant(bid: Bid): rules.Claimant {
    const { key, holder, purpose, ttlMs, wait } = bid;
    return { key, holder, purpose, ttlMs, wait, who: this.#options.who };
  }

  #leaseName(bid: Bid): string {
    return this.#options.prefix + keyName(bid.key);
  }

  #wallMs(): number {
    return this.#options.clock.wallMs();
  }
}

const released: ReleaseOutcome = { released: true };
const lost: ReleaseOutcome = { released: false, reason: "lost" };
const unknown: ReleaseOutcome = { released: false, reason: "unknown" };
