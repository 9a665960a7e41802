import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import type { LeaseRenewer } from "../lease-renewer.ts";
import type { Lease, ReleaseOutcome } from "./locks.ts";

/** The slot that a lease is returned to. */
export interface LeaseOwner {
  releaseLease(lease: HeldLease): Promise<ReleaseOutcome>;
}

/** The lease of one caller. An acquisition can be passed on to several callers in turn. */
export class HeldLease implements Lease {
  readonly key: Key;
  readonly fence: bigint;
  readonly acquiredAt: number;
  readonly #acquisition: { readonly holder: string };
  readonly #renewer: LeaseRenewer;
  readonly #origin: LeaseOwner;
  /** Created on first access: most leases are released without a listener. */
  #controller: AbortController | undefined;
  #lost: CoordinationError | undefined;
  #released: Promise<ReleaseOutcome> | undefined;

  constructor(
    key: Key,
    acquisition: { readonly fence: bigint; readonly holder: string },
    renewer: LeaseRenewer,
    acquiredAt: number,
    origin: LeaseOwner,
  ) {
    this.key = key;
    this.fence = acquisition.fence;
    this.#acquisition = acquisition;
    this.acquiredAt = acquiredAt;
    this.#renewer = renewer;
    this.#origin = origin;
  }

  get holder(): string {
    return this.#acquisition.holder;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#lost) this.#controller.abort(this.#lost);
    }
    return this.#controller.signal;
  }

  remainingMs(): number {
    if (this.#lost !== undefined || this.#released !== undefined) return 0;
    return this.#renewer.remainingMs();
  }

  assertHeld(minMs = 0): void {
    if (this.remainingMs() > minMs) return;
    this.#renewer.check();
    if (this.#released !== undefined) throw new CoordinationError("lost", `${this.key}: the lease was released`);
    const why = this.#lost?.message ?? `less than ${minMs} ms are left`;
    throw new CoordinationError("lost", `${this.key}: ${why}`, { cause: this.#lost });
  }

  release(): Promise<ReleaseOutcome> {
    this.#released ??= this.#origin.releaseLease(this);
    return this.#released;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** Ends the lease other than by release: the signal aborts with `cause`. */
  lose(cause: CoordinationError): void {
    // After its release a lease has nothing left to lose, and its work must not see an abort.
    if (this.#lost !== undefined || this.#released !== undefined) return;
    this.#lost = cause;
    this.#controller?.abort(cause);
  }
}
