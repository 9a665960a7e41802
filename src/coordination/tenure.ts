import { type Agenda, Appointment, type Clock, type Random } from "../time/index.ts";
import { CoordinationError } from "./errors.ts";

/** The promise of a store to a holder, about a lock or a claim. */
export interface Promised {
  /** Until when no other caller can hold it, on the local monotonic clock. */
  readonly deadline: number;
  /** How long the promise was when it was made; renewal and the safety margin are shares of it. */
  readonly periodMs: number;
}

/** Our clock and a store's may drift apart by this share while a lease lasts. */
export const drift = 0.005;

/**
 * What a promise of `periodMs` is worth on our clock if it was made after `sentAt`. The margin covers rounding and
 * timer granularity on both sides.
 */
export function promiseFrom(sentAt: number, periodMs: number, marginMs: number): Promised {
  return { deadline: sentAt + periodMs * (1 - drift) - marginMs, periodMs };
}

/**
 * A store that handed a lock over expects a confirmation soon. Not at once: most queued work is so brief that the
 * release confirms it as well, and the next waiter need not wait for one more request.
 */
export const confirmWithinMs = 100;

/** `unknown`: the store did not answer; it may or may not have renewed. */
export type Renewal =
  | ({ readonly kind: "ok" } & Promised)
  | { readonly kind: "lost"; readonly holder: { readonly who: string } | undefined }
  | { readonly kind: "unknown"; readonly cause: unknown };

/** What a tenure needs from the one who holds it. */
export interface Duties {
  renew(): Promise<Renewal>;
  renewalFailed(cause: unknown): void;
  /** It must not be relied on any more. Called once, before another caller can be granted it. */
  ended(cause: CoordinationError): void;
  /** From now on another caller may hold it. Called after `ended`, unless `stop` came first. */
  vacated(): void;
}

export interface TimeKeeping {
  readonly clock: Clock;
  readonly random: Random;
  readonly agenda: Agenda;
}

/**
 * Keeps something held: renews it well before its deadline, and ends it by the local clock alone when that fails.
 *
 *   holding ──(renewal answers lost)──────────────────────▶ ended, vacated
 *      └────(endsAt passes: no renewal in time)───────────▶ ended ──(deadline passes)──▶ vacated
 */
export class Tenure {
  /** Until when no other caller can hold it. Extended by every renewal, never shortened. */
  deadline: number;
  readonly #time: TimeKeeping;
  readonly #duties: Duties;
  /** Made when there is something to be on time for; in one process alone there may never be. */
  #appointment: Appointment | undefined;
  /** It is renewed only until then. */
  #holdUntil = Number.POSITIVE_INFINITY;
  #graceMs: number;
  #renewAt: number;
  #renewing = false;
  #state: "holding" | "ended" | "over" = "holding";

  constructor(promised: Promised, duties: Duties, time: TimeKeeping) {
    this.deadline = promised.deadline;
    this.#graceMs = graceMs(promised.periodMs);
    this.#renewAt = renewalDue(promised);
    this.#duties = duties;
    this.#time = time;
  }

  /** From then on the holder must not act: a little before the deadline, so that pending writes can still arrive. */
  get endsAt(): number {
    return Math.min(this.deadline - this.#graceMs, this.#holdUntil);
  }

  remainingMs(): number {
    return this.endsAt - this.#time.clock.now();
  }

  get holding(): boolean {
    return this.#state === "holding";
  }

  /** Begins to keep it. `renewSoon`: the store does not know yet that we are there, and will not wait for long. */
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

  /** Looks at the clock now rather than when the timer comes: a blocked event loop must not hide the end. */
  check(): void {
    if (this.#state === "holding" && this.#time.clock.now() >= this.endsAt) this.due();
  }

  /** No more renewals and no more calls of `duties`. */
  stop(): void {
    this.#state = "over";
    if (this.#appointment) this.#time.agenda.remove(this.#appointment);
  }

  #plan() {
    const next = this.#state === "ended" ? this.deadline : Math.min(this.endsAt, this.#renewAt);
    if (next === Number.POSITIVE_INFINITY) return;
    this.#appointment ??= new Appointment(this);
    this.#time.agenda.put(this.#appointment, next);
  }

  /** @internal Called by the agenda. */
  due(): void {
    const now = this.#time.clock.now();
    if (this.#state === "holding" && now >= this.endsAt) {
      this.#end(new CoordinationError("lost", this.#endReason(now)));
    }
    if (this.#state === "ended" && now >= this.deadline) return this.#vacate();
    if (this.#state === "holding" && now >= this.#renewAt) this.#renew();
    if (this.#state !== "over") this.#plan();
  }

  #renew() {
    // One attempt at a time; the answer, which always comes, plans the next.
    this.#renewAt = Number.POSITIVE_INFINITY;
    if (this.#renewing || this.#time.clock.now() >= this.#holdUntil) return;
    this.#renewing = true;
    void this.#duties.renew().then((answer) => {
      this.#renewing = false;
      if (this.#state !== "over") this.#onRenewal(answer);
    });
  }

  #onRenewal(answer: Renewal) {
    switch (answer.kind) {
      case "ok":
        this.deadline = Math.max(this.deadline, answer.deadline);
        this.#graceMs = graceMs(answer.periodMs);
        this.#renewAt = renewalDue(answer);
        break;
      case "lost":
        this.#end(new CoordinationError("lost", describeLoss(answer)));
        return this.#vacate();
      case "unknown":
        this.#duties.renewalFailed(answer.cause);
        this.#renewAt = this.#time.clock.now() + 50 + 150 * this.#time.random.fraction();
        break;
    }
    this.#plan();
  }

  #endReason(now: number): string {
    if (now >= this.#holdUntil) return "held for as long as maxHoldMs allows";
    const lateMs = Math.round(now - this.endsAt);
    return lateMs < 100
      ? "not renewed in time: the backend did not answer"
      : `not renewed in time: the event loop was blocked, and this was noticed ${lateMs} ms late`;
  }

  #end(cause: CoordinationError) {
    if (this.#state !== "holding") return;
    this.#state = "ended";
    // Where no store sets a deadline, in one process, aborted work gets a moment to stop.
    if (this.deadline === Number.POSITIVE_INFINITY) this.deadline = this.#time.clock.now() + 1_000;
    this.#duties.ended(cause);
  }

  #vacate() {
    // `ended` may have released it, and so stopped this.
    if (this.#state === "over") return;
    this.stop();
    this.#duties.vacated();
  }
}

function graceMs(periodMs: number): number {
  return periodMs === Number.POSITIVE_INFINITY ? 0 : periodMs / 15;
}

/**
 * A third into the period, moved forward to a common grid: leases with the same ttl fall due together and are
 * renewed in one request.
 */
function renewalDue({ deadline, periodMs }: Promised): number {
  if (deadline === Number.POSITIVE_INFINITY) return deadline;
  const grid = periodMs / 12;
  return Math.floor((deadline - (periodMs * 2) / 3) / grid) * grid;
}

function describeLoss({ holder }: { holder: { who: string } | undefined }): string {
  return holder ? `taken over by ${holder.who}` : "the backend no longer has it";
}
