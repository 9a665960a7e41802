import { type Agenda, Appointment, type Clock, type Random } from "../time/index.ts";
import { CoordinationError } from "./errors.ts";

/** How long a store grants a lock or a claim. */
export interface Validity {
  /** Until when no other caller can hold it, on the local monotonic clock. */
  readonly deadline: number;
  /** The whole granted time; renewal and the safety margin are shares of it. */
  readonly periodMs: number;
}

/** Our clock and a store's may drift apart by this share while a lease lasts. */
export const drift = 0.005;

/**
 * The validity, on our clock, of a grant for `periodMs` that was made after `sentAt`. The margin covers rounding and timer
 * granularity on both sides.
 */
export function validityFrom(sentAt: number, periodMs: number, marginMs: number): Validity {
  return { deadline: sentAt + periodMs * (1 - drift) - marginMs, periodMs };
}

/**
 * A store that handed over a lock expects a confirmation within this time. It is not sent at once: most queued work is so short
 * that its release confirms the lock as well, and the next waiter does not wait for another request.
 */
export const confirmWithinMs = 100;

/** `unknown`: the store did not respond; it may or may not have renewed. */
export type RenewalResult =
  | ({ readonly kind: "ok" } & Validity)
  | { readonly kind: "lost"; readonly holder: { readonly who: string } | undefined }
  | { readonly kind: "unknown"; readonly cause: unknown };

/** How a renewer renews its lease or claim, and reports to the holder. */
export interface LeaseCallbacks {
  renew(): Promise<RenewalResult>;
  onRenewalFailed(cause: unknown): void;
  /** The holder must stop. Called once, before another caller can be granted it. */
  onLost(cause: CoordinationError): void;
  /** Another caller may hold it now. Called after `onLost`, unless `stop` was called before. */
  onFree(): void;
}

export interface Timing {
  readonly clock: Clock;
  readonly random: Random;
  readonly agenda: Agenda;
}

/**
 * Renews a lease or claim well before its deadline, and ends it by the local clock alone when that fails.
 *
 *   holding ──(renewal returns lost)──────────────────────▶ lost, free
 *      └────(endsAt passes: no renewal in time)───────────▶ lost ──(deadline passes)──▶ free
 */
export class LeaseRenewer {
  /** Until when no other caller can hold it. Extended by every renewal, never shortened. */
  deadline: number;
  readonly #time: Timing;
  readonly #callbacks: LeaseCallbacks;
  /** Created when there is a deadline; memory locks have none. */
  #appointment: Appointment | undefined;
  /** It is not renewed after this time. */
  #holdUntil = Number.POSITIVE_INFINITY;
  #graceMs: number;
  #renewAt: number;
  #renewing = false;
  #state: "holding" | "lost" | "stopped" = "holding";

  constructor(validity: Validity, callbacks: LeaseCallbacks, time: Timing) {
    this.deadline = validity.deadline;
    this.#graceMs = graceMs(validity.periodMs);
    this.#renewAt = renewalDue(validity);
    this.#callbacks = callbacks;
    this.#time = time;
  }

  /** After this time the holder must not act: a little before the deadline, so that pending writes can still arrive. */
  get endsAt(): number {
    return Math.min(this.deadline - this.#graceMs, this.#holdUntil);
  }

  remainingMs(): number {
    return this.endsAt - this.#time.clock.now();
  }

  get holding(): boolean {
    return this.#state === "holding";
  }

  /** Begins to renew it. `renewSoon`: the store waits a short time for a confirmation. */
  start(renewSoon: boolean): void {
    if (renewSoon) this.#renewAt = Math.min(this.#renewAt, this.#time.clock.now() + confirmWithinMs);
    this.#plan();
  }

  /** From `time` on it is not renewed any more, and the holder must not act. */
  holdUntil(time: number): void {
    if (time === this.#holdUntil) return;
    this.#holdUntil = time;
    this.#plan();
  }

  /** Reads the clock now instead of waiting for the timer, which a blocked event loop delays. */
  check(): void {
    if (this.#state === "holding" && this.#time.clock.now() >= this.endsAt) this.due();
  }

  /** No more renewals and no more callbacks. */
  stop(): void {
    this.#state = "stopped";
    if (this.#appointment) this.#time.agenda.remove(this.#appointment);
  }

  #plan() {
    const next = this.#state === "lost" ? this.deadline : Math.min(this.endsAt, this.#renewAt);
    if (next === Number.POSITIVE_INFINITY) return;
    this.#appointment ??= new Appointment(this);
    this.#time.agenda.put(this.#appointment, next);
  }

  /** @internal Called by the agenda. */
  due(): void {
    const now = this.#time.clock.now();
    if (this.#state === "holding" && now >= this.endsAt) {
      this.#lose(new CoordinationError("lost", this.#endReason(now)));
    }
    if (this.#state === "lost" && now >= this.deadline) return this.#free();
    if (this.#state === "holding" && now >= this.#renewAt) this.#renew();
    if (this.#state !== "stopped") this.#plan();
  }

  #renew() {
    // One attempt at a time; its result, which always arrives, plans the next.
    this.#renewAt = Number.POSITIVE_INFINITY;
    if (this.#renewing || this.#time.clock.now() >= this.#holdUntil) return;
    this.#renewing = true;
    void this.#callbacks.renew().then((result) => {
      this.#renewing = false;
      if (this.#state !== "stopped") this.#onRenewal(result);
    });
  }

  #onRenewal(result: RenewalResult) {
    switch (result.kind) {
      case "ok":
        this.deadline = Math.max(this.deadline, result.deadline);
        this.#graceMs = graceMs(result.periodMs);
        this.#renewAt = renewalDue(result);
        break;
      case "lost":
        this.#lose(new CoordinationError("lost", describeLoss(result)));
        return this.#free();
      case "unknown":
        this.#callbacks.onRenewalFailed(result.cause);
        this.#renewAt = this.#time.clock.now() + 50 + 150 * this.#time.random.fraction();
        break;
    }
    this.#plan();
  }

  #endReason(now: number): string {
    if (now >= this.#holdUntil) return "held for as long as maxHoldMs allows";
    const lateMs = Math.round(now - this.endsAt);
    return lateMs < 100
      ? "not renewed in time: the backend did not respond"
      : `not renewed in time: the event loop was blocked, and this was noticed ${lateMs} ms late`;
  }

  #lose(cause: CoordinationError) {
    if (this.#state !== "holding") return;
    this.#state = "lost";
    // Without a deadline of a store (memory locks), aborted work gets a moment to stop.
    if (this.deadline === Number.POSITIVE_INFINITY) this.deadline = this.#time.clock.now() + 1_000;
    this.#callbacks.onLost(cause);
  }

  #free() {
    // `onLost` may have released it, and so stopped this.
    if (this.#state === "stopped") return;
    this.stop();
    this.#callbacks.onFree();
  }
}

function graceMs(periodMs: number): number {
  return periodMs === Number.POSITIVE_INFINITY ? 0 : periodMs / 15;
}

/**
 * A third into the period, moved forward to a common grid: leases with the same ttl fall due together and are
 * renewed in one request.
 */
function renewalDue({ deadline, periodMs }: Validity): number {
  if (deadline === Number.POSITIVE_INFINITY) return deadline;
  const grid = periodMs / 12;
  return Math.floor((deadline - (periodMs * 2) / 3) / grid) * grid;
}

function describeLoss({ holder }: { holder: { who: string } | undefined }): string {
  return holder ? `taken over by ${holder.who}` : "the backend no longer has it";
}
