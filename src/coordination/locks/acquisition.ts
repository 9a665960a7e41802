import type { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import { type LeaseCallbacks, LeaseRenewer, type RenewalResult, type Timing } from "../lease-renewer.ts";
import type { Bid, Delay, Grant, LockStore, Terms } from "./lock-store.ts";
import type { Holder } from "./locks.ts";
import type { LockRequest } from "./waiter.ts";

export interface AcquisitionContext extends Timing {
  readonly store: LockStore;
  /** The first part of our holders. New for each process start: a pod name would let two acquisitions of one pod pass as one. */
  readonly clientId: string;
  /** Counts the acquisitions of this process. */
  nextNumber(): number;
}

/** The slot that asked: it gets the responses of the store and the end of the grant. */
export interface AcquisitionOwner {
  granted(acquisition: Acquisition, terms: Terms): void;
  queued(acquisition: Acquisition, behind: Holder | undefined, delay?: Delay): void;
  busyElsewhere(acquisition: Acquisition, holder: Holder | undefined): void;
  failed(acquisition: Acquisition, error: CoordinationError): void;
  renewalFailed(cause: unknown): void;
  loseLease(cause: CoordinationError): void;
  onFree(): void;
}

/**
 * One acquisition of a key: the request to the store, then its grant. The store responds to the acquisition, which is never
 * reused, so that a late response is never taken for the response to a newer request.
 */
export class Acquisition implements Bid, Grant, LeaseCallbacks {
  readonly key: Key;
  readonly wait: boolean;
  readonly cohort: number;
  ttlMs: number;
  purpose: string | undefined;
  /** Set when granted. */
  renewer: LeaseRenewer | undefined;
  /** The fence of the caller that holds it now. An acquisition that is passed on inside the process gets a new one each time. */
  fence = 0n;
  #nextFence = 0n;
  #fencesLeft = 0;
  readonly #number: number;
  #holder: string | undefined;
  readonly #owner: AcquisitionOwner;
  readonly #in: AcquisitionContext;

  constructor(key: Key, request: LockRequest, owner: AcquisitionOwner, context: AcquisitionContext) {
    this.key = key;
    this.#number = context.nextNumber();
    this.wait = request.wait;
    this.cohort = request.cohort;
    this.ttlMs = request.ttlMs;
    this.purpose = request.purpose;
    this.#owner = owner;
    this.#in = context;
  }

  /** Built when it is first read: a store inside this process never reads it. */
  get holder(): string {
    this.#holder ??= `${this.#in.clientId}.${this.#number.toString(36)}`;
    return this.#holder;
  }

  get bid(): Bid {
    return this;
  }

  get deadline(): number {
    return this.renewer?.deadline ?? 0;
  }

  begin(terms: Terms): this {
    this.#nextFence = terms.fence;
    this.#fencesLeft = terms.fences;
    this.renewer = new LeaseRenewer(terms, this, this.#in);
    this.renewer.start(terms.unconfirmed === true);
    return this;
  }

  /** Whether the grant expired before it arrived. */
  isOver(): boolean {
    return (this.renewer as LeaseRenewer).remainingMs() <= 0;
  }

  /** Whether the next caller of this process may have it without a request to the store. */
  mayPassOn(): boolean {
    return this.#fencesLeft > 0 && (this.renewer as LeaseRenewer).holding && !this.isOver();
  }

  /** Gives it to the caller of this request; returns the time of that. */
  holdFor(request: LockRequest): number {
    const now = this.#in.clock.now();
    // A renewal for less time than was granted before would end that grant early, unnoticed until its response arrives.
    this.ttlMs = Math.max(this.ttlMs, request.ttlMs);
    this.purpose = request.purpose;
    this.fence = this.#nextFence;
    this.#fencesLeft--;
    if (this.#fencesLeft > 0) this.#nextFence += 1n;
    (this.renewer as LeaseRenewer).holdUntil(now + request.maxHoldMs);
    return now;
  }

  granted(terms: Terms): void {
    this.#owner.granted(this, terms);
  }
  queued(behind: Holder | undefined, delay?: Delay): void {
    this.#owner.queued(this, behind, delay);
  }
  busy(holder: Holder | undefined): void {
    this.#owner.busyElsewhere(this, holder);
  }
  failed(error: CoordinationError): void {
    this.#owner.failed(this, error);
  }
  renew(): Promise<RenewalResult> {
    return this.#in.store.renew(this);
  }
  onRenewalFailed(cause: unknown): void {
    this.#owner.renewalFailed(cause);
  }
  onLost(cause: CoordinationError): void {
    this.#owner.loseLease(cause);
  }
  onFree(): void {
    this.#owner.onFree();
  }
}
