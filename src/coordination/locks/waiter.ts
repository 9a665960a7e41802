import { setMaxListeners } from "node:events";
import { type Agenda, Appointment } from "../../time/index.ts";
import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import { HeldLease } from "./held-lease.ts";
import type { Holder } from "./locks.ts";

/** The options of a caller, with the defaults filled in. */
export interface LockRequest {
  readonly ttlMs: number;
  readonly waitMs: number;
  readonly maxHoldMs: number;
  readonly cohort: number;
  /** False: fail instead of waiting for the lock. */
  readonly wait: boolean;
  readonly purpose: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly isStandby: boolean;
}

/** The queue that a waiter is in. */
export interface WaitQueue {
  readonly key: Key;
  /** The last known holder of the key. */
  readonly holder: Holder | undefined;
  /** Why the backend grants nothing to any caller at present, and for how long; undefined if it does. */
  readonly delay: string | undefined;
  join(waiter: Waiter): void;
  leave(waiter: Waiter): void;
}

export type WaitResult = HeldLease | CoordinationError | "contention";

/** A caller in the queue of a slot. It gets one result: a lease, or an error such as a timeout. */
export class Waiter {
  /** @internal */ previous: Waiter | undefined;
  /** @internal */ next: Waiter | undefined;
  /** @internal Contention was reported. */ contended = false;
  readonly request: LockRequest;
  readonly since: number;
  readonly queue: WaitQueue;
  readonly #agenda: Agenda;
  readonly #answered: (waiter: Waiter, answer: WaitResult) => void;
  readonly resolve: (lease: HeldLease | undefined) => void;
  readonly reject: (error: CoordinationError) => void;
  #timer: Appointment | undefined;
  #done = false;

  constructor(
    request: LockRequest,
    since: number,
    queue: WaitQueue,
    agenda: Agenda,
    to: {
      resolve(lease: HeldLease | undefined): void;
      reject(error: CoordinationError): void;
      answered(waiter: Waiter, answer: WaitResult): void;
    },
  ) {
    this.request = request;
    this.since = since;
    this.queue = queue;
    this.#agenda = agenda;
    this.#answered = to.answered;
    this.resolve = to.resolve;
    this.reject = to.reject;
  }

  /** Joins the queue, and starts the timer if the lock is not granted at once. */
  join(): void {
    const { signal } = this.request;
    if (signal) {
      // Many callers may share one signal, such as that of the shutdown; the many listeners are no leak.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", this, { once: true });
    }
    this.queue.join(this);
    if (this.#done) return;
    this.#timer = new Appointment(this);
    this.#agenda.put(this.#timer, this.since + this.request.waitMs);
  }

  /** Called by the slot, after it removed the waiter from the queue. */
  answer(answer: WaitResult): void {
    this.#done = true;
    if (this.#timer) this.#agenda.remove(this.#timer);
    this.request.signal?.removeEventListener("abort", this);
    this.#answered(this, answer);
    if (answer instanceof HeldLease) this.resolve(answer);
    else if (answer === "contention") this.resolve(undefined);
    else this.reject(answer);
  }

  /** @internal Called by the agenda: the wait took too long. */
  due(): void {
    const { key, holder, delay = "no response yet" } = this.queue;
    const cause = holder ? `held by ${holder.who}${holder.purpose ? ` for ${holder.purpose}` : ""}` : delay;
    this.#giveUp(new CoordinationError("timeout", `${key}: waited ${this.request.waitMs} ms, ${cause}`));
  }

  /** @internal Called by the caller's signal. */
  handleEvent(): void {
    this.#giveUp(abortedError(this.queue.key, this.request.signal as AbortSignal));
  }

  #giveUp(error: CoordinationError) {
    this.queue.leave(this);
    this.answer(error);
  }
}

export function abortedError(key: string, signal: AbortSignal): CoordinationError {
  return new CoordinationError("aborted", `${key}: the caller stopped waiting`, { cause: signal.reason });
}
