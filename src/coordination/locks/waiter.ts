import { setMaxListeners } from "node:events";
import { type Agenda, Appointment } from "../../time/index.ts";
import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import { HeldLease } from "./held-lease.ts";
import type { Holder } from "./locks.ts";

/** What a caller asked for, with the defaults filled in. */
export interface Wants {
  readonly ttlMs: number;
  readonly waitMs: number;
  readonly maxHoldMs: number;
  readonly cohort: number;
  /** False: a turn at once or none. */
  readonly wait: boolean;
  readonly purpose: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Where a waiter stands in line. */
export interface WaitQueue {
  readonly key: Key;
  /** Who holds the key, as far as is known. */
  readonly holder: Holder | undefined;
  /** Why the backend grants nothing to any caller at present, and for how long; undefined if it does. */
  readonly delay: string | undefined;
  join(waiter: Waiter): void;
  leave(waiter: Waiter): void;
}

export type WaitResult = HeldLease | CoordinationError | "contention";

/** A caller in the queue of a slot: answered once, by its turn, by time, or because it stopped waiting. */
export class Waiter {
  /** @internal */ previous: Waiter | undefined;
  /** @internal */ next: Waiter | undefined;
  /** @internal Contention was reported. */ contended = false;
  readonly wants: Wants;
  readonly since: number;
  readonly line: WaitQueue;
  readonly #agenda: Agenda;
  readonly #answered: (waiter: Waiter, answer: WaitResult) => void;
  readonly resolve: (lease: HeldLease | undefined) => void;
  readonly reject: (error: CoordinationError) => void;
  #timer: Appointment | undefined;
  #done = false;

  constructor(
    wants: Wants,
    since: number,
    line: WaitQueue,
    agenda: Agenda,
    to: {
      resolve(lease: HeldLease | undefined): void;
      reject(error: CoordinationError): void;
      answered(waiter: Waiter, answer: WaitResult): void;
    },
  ) {
    this.wants = wants;
    this.since = since;
    this.line = line;
    this.#agenda = agenda;
    this.#answered = to.answered;
    this.resolve = to.resolve;
    this.reject = to.reject;
  }

  /** Joins the queue. A wait is only timed if there is one. */
  join(): void {
    const { signal } = this.wants;
    if (signal) {
      // One signal for a thousand callers, such as the one that ends the process, is no leak.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", this, { once: true });
    }
    this.line.join(this);
    if (this.#done) return;
    this.#timer = new Appointment(this);
    this.#agenda.put(this.#timer, this.since + this.wants.waitMs);
  }

  /** Called by the slot, after it let the waiter out of the queue. */
  answer(answer: WaitResult): void {
    this.#done = true;
    if (this.#timer) this.#agenda.remove(this.#timer);
    this.wants.signal?.removeEventListener("abort", this);
    this.#answered(this, answer);
    if (answer instanceof HeldLease) this.resolve(answer);
    else if (answer === "contention") this.resolve(undefined);
    else this.reject(answer);
  }

  /** @internal Called by the agenda: the wait took too long. */
  due(): void {
    const { key, holder, delay = "no answer yet" } = this.line;
    const cause = holder ? `held by ${holder.who}${holder.purpose ? ` for ${holder.purpose}` : ""}` : delay;
    this.#giveUp(new CoordinationError("timeout", `${key}: waited ${this.wants.waitMs} ms, ${cause}`));
  }

  /** @internal Called by the caller's signal. */
  handleEvent(): void {
    this.#giveUp(aborted(this.line.key, this.wants.signal as AbortSignal));
  }

  #giveUp(error: CoordinationError) {
    this.line.leave(this);
    this.answer(error);
  }
}

export function aborted(key: string, signal: AbortSignal): CoordinationError {
  return new CoordinationError("aborted", `${key}: the caller stopped waiting`, { cause: signal.reason });
}
