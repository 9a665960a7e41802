import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import type { LeaseRenewer } from "../lease-renewer.ts";
import { Acquisition, type AcquisitionContext, type AcquisitionOwner } from "./acquisition.ts";
import { HeldLease } from "./held-lease.ts";
import { type Delay, explainDelay, type Terms } from "./lock-store.ts";
import type { Holder, LockEvents, ReleaseOutcome } from "./locks.ts";
import type { LockRequest, Waiter, WaitQueue } from "./waiter.ts";

/** Shared by all slots of a table. */
export interface SlotContext extends AcquisitionContext {
  readonly events: LockEvents;
  /** stage/pod/pid of this process. */
  readonly who: string;
  /** Called when the slot has neither holder nor waiter. */
  onEmpty(slot: Slot): void;
}

/**
 * One key in this process: callers in arrival order, and at most one acquisition, requested or held.
 * Because of the queue in front of the store, two callers of one process exclude each other, and any number of callers
 * here are a single waiter in the store.
 */
export class Slot implements WaitQueue, AcquisitionOwner {
  readonly key: Key;
  readonly #context: SlotContext;
  #first: Waiter | undefined;
  #last: Waiter | undefined;
  #acquisition: Acquisition | undefined;
  #lease: HeldLease | undefined;
  /** The holder in another process, as last reported by the store. */
  #remoteHolder: Holder | undefined;
  #delay: Delay | undefined;

  constructor(key: Key, context: SlotContext) {
    this.key = key;
    this.#context = context;
  }

  get isBusy(): boolean {
    return this.#acquisition !== undefined || this.#first !== undefined;
  }

  *waiters(): Generator<Waiter> {
    for (let waiter = this.#first; waiter; waiter = waiter.next) yield waiter;
  }

  get lease(): HeldLease | undefined {
    return this.#lease;
  }

  /** The last known holder of the key. */
  get holder(): Holder | undefined {
    if (!this.#lease || !this.#acquisition) return this.#remoteHolder;
    const { clock, who } = this.#context;
    const sinceMs = clock.wallMs() - (clock.now() - this.#lease.acquiredAt);
    return { id: this.#acquisition.holder, who, sinceMs, purpose: this.#acquisition.purpose };
  }

  get delay(): string | undefined {
    return this.#delay && explainDelay(this.#delay, this.#context.clock.now());
  }

  /** The lease, if the store grants without a request and no other caller has or wants the key. */
  grantNow(request: LockRequest): HeldLease | undefined {
    if (this.isBusy || !this.#context.store.grantNow) return undefined;
    const acquisition = this.#newAcquisition(request);
    this.#acquisition = acquisition;
    return this.#hold(acquisition.begin(this.#context.store.grantNow(acquisition)), request);
  }

  join(waiter: Waiter): void {
    waiter.previous = this.#last;
    if (this.#last) this.#last.next = waiter;
    else this.#first = waiter;
    this.#last = waiter;
    if (this.#acquisition) this.#reportContention(waiter);
    this.#advance();
  }

  /** Reports contention once per caller. */
  #reportContention(waiter: Waiter | undefined) {
    if (!waiter || waiter.contended) return;
    waiter.contended = true;
    this.#context.events.contended?.(this.key, this.holder);
  }

  /** Removes `waiter` from the queue; its request is withdrawn if no other waiter needs the response. */
  leave(waiter: Waiter): void {
    this.#unlink(waiter);
    this.#withdrawIfUnneeded();
    this.#advance();
  }

  rejectAll(error: CoordinationError): void {
    const rejected = [...this.waiters()];
    for (const waiter of rejected) this.#unlink(waiter);
    this.#withdrawIfUnneeded();
    this.#advance();
    for (const waiter of rejected) waiter.answer(error);
  }

  #unlink(waiter: Waiter) {
    const { previous, next } = waiter;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    waiter.previous = waiter.next = undefined;
  }

  #withdrawIfUnneeded() {
    const acquisition = this.#acquisition;
    if (this.#first || !acquisition || acquisition.renewer) return;
    this.#acquisition = undefined;
    this.#context.store.withdraw(acquisition);
  }

  /** Sends a request for the first waiter, unless one is pending or the key is held here. */
  #advance() {
    if (this.#acquisition) return;
    if (!this.#first) return this.#context.onEmpty(this);
    this.#acquisition = this.#newAcquisition(this.#first.request);
    this.#context.store.ask(this.#acquisition);
  }

  #newAcquisition(request: LockRequest) {
    return new Acquisition(this.key, request, this, this.#context);
  }

  /** Hands the grant to the first waiter, unless the request was withdrawn. */
  onGranted(acquisition: Acquisition, terms: Terms): void {
    if (acquisition !== this.#acquisition || !this.#first) return;
    this.#remoteHolder = this.#delay = undefined;
    acquisition.begin(terms);
    if (acquisition.hasExpired()) return this.#releaseLateGrant(acquisition);
    this.#handTo(this.#first);
  }

  /** The response took so long that the lease has already ended: releases it and requests it again. */
  #releaseLateGrant(acquisition: Acquisition) {
    this.#drop(acquisition);
    void this.#context.store.release(acquisition);
    if (acquisition.wait) return this.#advance();
    this.#rejectFirst(
      new CoordinationError("unavailable", `${this.key}: the response of the backend arrived too late`),
    );
  }

  onQueued(acquisition: Acquisition, behind: Holder | undefined, delay?: Delay): void {
    if (acquisition !== this.#acquisition) return;
    this.#remoteHolder = behind;
    this.#delay = delay;
    if (!delay) this.#reportContention(this.#first);
  }

  onBusy(acquisition: Acquisition, holder: Holder | undefined): void {
    if (acquisition !== this.#acquisition) return;
    this.#acquisition = undefined;
    this.#remoteHolder = holder;
    this.#reportContention(this.#first);
    this.#rejectFirst("contention");
  }

  onFailed(acquisition: Acquisition, error: CoordinationError): void {
    if (acquisition !== this.#acquisition) return;
    this.#acquisition = undefined;
    // A caller that does not wait fails alone. An error for a waiting caller concerns all that wait.
    if (acquisition.wait) this.rejectAll(error);
    else this.#rejectFirst(error);
  }

  #rejectFirst(error: CoordinationError | "contention") {
    const first = this.#first;
    if (!first) return this.#advance();
    this.leave(first);
    first.answer(error);
  }

  #handTo(waiter: Waiter) {
    this.#unlink(waiter);
    waiter.answer(this.#hold(this.#acquisition as Acquisition, waiter.request));
  }

  #hold(acquisition: Acquisition, request: LockRequest): HeldLease {
    const acquiredAt = acquisition.holdFor(request);
    const lease = new HeldLease(this.key, acquisition, acquisition.renewer as LeaseRenewer, acquiredAt, this);
    this.#lease = lease;
    return lease;
  }

  /** Called by the lease, once. */
  releaseLease(lease: HeldLease): Promise<ReleaseOutcome> {
    const { events, clock } = this.#context;
    const heldMs = events.released ? clock.now() - lease.acquiredAt : 0;
    const outcome = this.#free(lease);
    if (events.released) void outcome.then((result) => events.released?.(lease, result, heldMs));
    return outcome;
  }

  #free(lease: HeldLease): Promise<ReleaseOutcome> {
    const acquisition = this.#acquisition;
    // The lease is lost: another holder may have the key, so there is nothing to release.
    if (!acquisition || lease !== this.#lease) return lost;

    if (this.#first && acquisition.canPassOn()) {
      this.#handTo(this.#first);
      return released;
    }
    this.#drop(acquisition);
    const outcome = this.#context.store.release(acquisition);
    // After the release, so that waiters of other processes that queued earlier come first.
    this.#advance();
    return outcome;
  }

  #drop(acquisition: Acquisition) {
    acquisition.renewer?.stop();
    this.#acquisition = this.#lease = undefined;
  }

  onRenewalFailed(cause: unknown): void {
    if (this.#lease) this.#context.events.renewalFailed?.(this.#lease, cause);
  }

  onLost(cause: CoordinationError): void {
    const lease = this.#lease;
    if (!lease) return;
    lease.lose(cause);
    this.#context.events.lost?.(lease, cause);
  }

  onFree(): void {
    this.#acquisition = this.#lease = undefined;
    this.#advance();
  }
}

const released: Promise<ReleaseOutcome> = Promise.resolve({ released: true });
const lost: Promise<ReleaseOutcome> = Promise.resolve({ released: false, reason: "lost" });
