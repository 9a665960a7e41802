import type { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import { type LeaseCallbacks, LeaseRenewer, type RenewalResult, type Timing } from "../lease-renewer.ts";
import type { Bid, Delay, Grant, LockStore, Terms } from "./lock-store.ts";
import type { Holder } from "./locks.ts";
import type { LockRequest } from "./waiter.ts";

export interface AcquisitionContext extends Timing {
  readonly store: LockStore;
  /** The first part of our holder ids. New for each process start: two processes of one pod must not share an id. */
  readonly clientId: string;
  /** The number of the next acquisition of this process. */
  nextNumber(): number;
}

/** The slot of an acquisition. It is notified of the responses of the store and of the end of the grant. */
export interface AcquisitionOwner extends Pick<LeaseCallbacks, "onRenewalFailed" | "onLost" | "onFree"> {
  onGranted(acquisition: Acquisition, terms: Terms): void;
  onQueued(acquisition: Acquisition, behind: Holder | undefined, delay?: Delay): void;
  onBusy(acquisition: Acquisition, holder: Holder | undefined): void;
  onFailed(acquisition: Acquisition, error: CoordinationError): void;
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
  /** The fence of the present lease. Each caller that the acquisition is passed on to gets a new one. */
  fence = 0n;
  #nextFence = 0n;
  #fencesLeft = 0;
  readonly #number: number;
  #holder: string | undefined;
  readonly #owner: AcquisitionOwner;
  readonly #context: AcquisitionContext;

  constructor(key: Key, request: LockRequest, owner: AcquisitionOwner, context: AcquisitionContext) {
    this.key = key;
    this.#number = context.nextNumber();
    this.wait = request.wait;
    this.cohort = request.cohort;
    this.ttlMs = request.ttlMs;
    this.purpose = request.purpose;
    this.#owner = owner;
    this.#context = context;
  }

  /** Created on first access: the memory store never reads it. */
  get holder(): string {
    this.#holder ??= `${this.#context.clientId}.${this.#number.toString(36)}`;
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
    this.renewer = new LeaseRenewer(terms, this, this.#context);
    this.renewer.start(terms.unconfirmed === true);
    return this;
  }

  /** Whether the grant expired before it arrived. */
  hasExpired(): boolean {
    return (this.renewer as LeaseRenewer).remainingMs() <= 0;
  }

  /** Whether the next caller of this process can have it without a request to the store. */
  canPassOn(): boolean {
    return this.#fencesLeft > 0 && (this.renewer as LeaseRenewer).holding && !this.hasExpired();
  }

  /** Gives it to the caller of this request, and returns the present time. */
  holdFor(request: LockRequest): number {
    const now = this.#context.clock.now();
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
    this.#owner.onGranted(this, terms);
  }
  queued(behind: Holder | undefined, delay?: Delay): void {
    this.#owner.onQueued(this, behind, delay);
  }
  busy(holder: Holder | undefined): void {
    this.#owner.onBusy(this, holder);
  }
  failed(error: CoordinationError): void {
    this.#owner.onFailed(this, error);
  }
  renew(): Promise<RenewalResult> {
    return this.#context.store.renew(this);
  }
  onRenewalFailed(cause: unknown): void {
    this.#owner.onRenewalFailed(cause);
  }
  onLost(cause: CoordinationError): void {
    this.#owner.onLost(cause);
  }
  onFree(): void {
    this.#owner.onFree();
  }
}
