import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import type { LeaseRenewer } from "../lease-renewer.ts";
import { Acquisition, type AcquisitionContext, type AcquisitionOwner } from "./acquisition.ts";
import { HeldLease } from "./held-lease.ts";
import { type Delay, explainDelay, type Terms } from "./lock-store.ts";
import type { Holder, LockEvents, ReleaseOutcome } from "./locks.ts";
import type { LockRequest, Waiter, WaitQueue } from "./waiter.ts";

/** The part of a table that its slots share. */
export interface SlotContext extends AcquisitionContext {
  readonly events: LockEvents;
  /** stage/pod/pid of this process. */
  readonly who: string;
  /** The slot has neither holder nor waiter left. */
  onEmpty(slot: Slot): void;
}

/**
 * One key in this process: callers in arrival order, and at most one acquisition, requested or held.
 * The queue in front of the store is what makes two callers of one process exclude each other, and what keeps the
 * number of remote waiters at one however many wait here.
 */
export class Slot implements WaitQueue, AcquisitionOwner {
  readonly key: Key;
  readonly #in: SlotContext;
  #first: Waiter | undefined;
  #last: Waiter | undefined;
  #acquisition: Acquisition | undefined;
  #lease: HeldLease | undefined;
  /** The last reported holder. */
  #behind: Holder | undefined;
  #delay: Delay | undefined;

  constructor(key: Key, context: SlotContext) {
    this.key = key;
    this.#in = context;
  }

  get busy(): boolean {
    return this.#acquisition !== undefined || this.#first !== undefined;
  }

  get firstWaiter(): Waiter | undefined {
    return this.#first;
  }

  get lease(): HeldLease | undefined {
    return this.#lease;
  }

  /** The last known holder of the key. */
  get holder(): Holder | undefined {
    if (!this.#lease || !this.#acquisition) return this.#behind;
    const { clock, who } = this.#in;
    const sinceMs = clock.wallMs() - (clock.now() - this.#lease.acquiredAt);
    return { id: this.#acquisition.holder, who, sinceMs, purpose: this.#acquisition.purpose };
  }

  get delay(): string | undefined {
    return this.#delay && explainDelay(this.#delay, this.#in.clock.now());
  }

  /** The lease at once, for the first caller on a store that grants without a request. */
  grantNow(request: LockRequest): HeldLease | undefined {
    if (this.busy || !this.#in.store.grantNow) return undefined;
    const acquisition = this.#newAcquisition(request);
    this.#acquisition = acquisition;
    return this.#hold(acquisition.begin(this.#in.store.grantNow(acquisition)), request);
  }

  join(waiter: Waiter): void {
    waiter.previous = this.#last;
    if (this.#last) this.#last.next = waiter;
    else this.#first = waiter;
    this.#last = waiter;
    if (this.#acquisition) this.#mustWait(waiter);
    this.#advance();
  }

  /** Reports contention once per caller. */
  #mustWait(waiter: Waiter | undefined) {
    if (!waiter || waiter.contended) return;
    waiter.contended = true;
    this.#in.events.contended?.(this.key, this.holder);
  }

  /** Removes `waiter` from the queue; its request is withdrawn if no other waiter needs the response. */
  leave(waiter: Waiter): void {
    this.#unlink(waiter);
    this.#withdrawIfUnneeded();
    this.#advance();
  }

  refuseAll(error: CoordinationError): void {
    const refused: Waiter[] = [];
    for (let waiter = this.#first; waiter; waiter = this.#first) {
      this.#unlink(waiter);
      refused.push(waiter);
    }
    this.#withdrawIfUnneeded();
    this.#advance();
    for (const waiter of refused) waiter.answer(error);
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
    this.#in.store.withdraw(acquisition);
  }

  /** Sends a request for the first waiter, unless one is pending or the key is held here. */
  #advance() {
    if (this.#acquisition) return;
    if (!this.#first) return this.#in.onEmpty(this);
    this.#acquisition = this.#newAcquisition(this.#first.request);
    this.#in.store.ask(this.#acquisition);
  }

  #newAcquisition(request: LockRequest) {
    return new Acquisition(this.key, request, this, this.#in);
  }

  /** The grant for the first waiter, or a late response to a request that is no longer needed. */
  granted(acquisition: Acquisition, terms: Terms): void {
    if (acquisition !== this.#acquisition || !this.#first) return;
    this.#behind = this.#delay = undefined;
    acquisition.begin(terms);
    if (acquisition.isOver()) return this.#tooLate(acquisition);
    this.#handTo(this.#first);
  }

  /** The response took so long that the lease has already ended: release it and request again. */
  #tooLate(acquisition: Acquisition) {
    this.#drop(acquisition);
    void this.#in.store.release(acquisition);
    if (acquisition.wait) return this.#advance();
    this.#refuseFirst(
      new CoordinationError("unavailable", `${this.key}: the response of the backend arrived too late`),
    );
  }

  queued(acquisition: Acquisition, behind: Holder | undefined, delay?: Delay): void {
    if (acquisition !== this.#acquisition) return;
    this.#behind = behind;
    this.#delay = delay;
    if (!delay) this.#mustWait(this.#first);
  }

  busyElsewhere(acquisition: Acquisition, holder: Holder | undefined): void {
    if (acquisition !== this.#acquisition) return;
    this.#acquisition = undefined;
    this.#behind = holder;
    this.#mustWait(this.#first);
    this.#refuseFirst("contention");
  }

  failed(acquisition: Acquisition, error: CoordinationError): void {
    if (acquisition !== this.#acquisition) return;
    this.#acquisition = undefined;
    // A caller that does not wait fails alone. The error of a waiting caller applies to all that wait.
    if (acquisition.wait) this.refuseAll(error);
    else this.#refuseFirst(error);
  }

  #refuseFirst(error: CoordinationError | "contention") {
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
  giveBack(lease: HeldLease): Promise<ReleaseOutcome> {
    const { events, clock } = this.#in;
    const heldMs = events.released ? clock.now() - lease.acquiredAt : 0;
    const outcome = this.#free(lease);
    if (events.released) void outcome.then((result) => events.released?.(lease, result, heldMs));
    return outcome;
  }

  #free(lease: HeldLease): Promise<ReleaseOutcome> {
    const acquisition = this.#acquisition;
    // The lease is lost: another holder may have the key, so there is nothing to release.
    if (!acquisition || lease !== this.#lease) return lost;

    if (this.#first && acquisition.mayPassOn()) {
      this.#handTo(this.#first);
      return released;
    }
    this.#drop(acquisition);
    const outcome = this.#in.store.release(acquisition);
    // Behind the release, so that waiters of other processes that queued earlier come first.
    this.#advance();
    return outcome;
  }

  #drop(acquisition: Acquisition) {
    acquisition.renewer?.stop();
    this.#acquisition = this.#lease = undefined;
  }

  renewalFailed(cause: unknown): void {
    if (this.#lease) this.#in.events.renewalFailed?.(this.#lease, cause);
  }

  loseLease(cause: CoordinationError): void {
    const lease = this.#lease;
    if (!lease) return;
    lease.lose(cause);
    this.#in.events.lost?.(lease, cause);
  }

  onFree(): void {
    this.#acquisition = this.#lease = undefined;
    this.#advance();
  }
}

const released: Promise<ReleaseOutcome> = Promise.resolve({ released: true });
const lost: Promise<ReleaseOutcome> = Promise.resolve({ released: false, reason: "lost" });
