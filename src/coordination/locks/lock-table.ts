import { Agenda, type Clock, type Random } from "../../time/index.ts";
import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import { HeldLease } from "./held-lease.ts";
import type { LockStore } from "./lock-store.ts";
import type { AcquireOptions, Lease, LockEvents, LockLoad, Locks, TryOptions } from "./locks.ts";
import { Slot, type SlotContext } from "./slot.ts";
import { abortedError, type LockRequest, Waiter, type WaitResult } from "./waiter.ts";

export interface LockTableOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The first part of our holder ids, new for each start of the process. Random, unless the store sets it. */
  readonly clientId?: string;
  /** The limit of the backend: a longer ttl is rejected. */
  readonly maxTtlMs?: number;
  /** stage/pod/pid of this process, for display as a holder. */
  readonly who?: string;
  readonly events?: LockEvents;
  readonly defaults?: { readonly ttlMs?: number; readonly waitMs?: number; readonly cohort?: number };
}

/** Locks on any store: everything about locking that does not need the backend. */
export function locksOver(store: LockStore, options: LockTableOptions): Locks {
  return new LockTable(store, options);
}

const minTtlMs = 500;
const agendaResolutionMs = 4;
const defaultRequest: LockRequest = {
  ttlMs: 30_000,
  waitMs: 30_000,
  maxHoldMs: Number.POSITIVE_INFINITY,
  cohort: 1,
  wait: true,
  purpose: undefined,
  signal: undefined,
  isStandby: false,
};

class LockTable implements Locks {
  readonly #slots = new Map<Key, Slot>();
  readonly #context: SlotContext;
  readonly #maxTtlMs: number;
  /** The request of callers that wait and set no option. It is shared, because it is the most frequent one. */
  readonly #defaults: LockRequest;
  #closed = false;
  #closing: Promise<void> | undefined;

  constructor(store: LockStore, options: LockTableOptions) {
    const { clock, random, who = "unknown", events = {}, defaults = {}, clientId = random.id() } = options;
    let acquisitions = 0;
    this.#maxTtlMs = options.maxTtlMs ?? 24 * 3_600_000;
    this.#defaults = { ...defaultRequest, ...defaults };
    const mistake = findMistake(this.#defaults, this.#maxTtlMs);
    if (mistake) throw new TypeError(`defaults: ${mistake}`);
    this.#context = {
      store,
      clock,
      random,
      events,
      who,
      agenda: new Agenda(clock, agendaResolutionMs),
      clientId,
      nextNumber: () => acquisitions++,
      onEmpty: (slot) => this.#slots.delete(slot.key),
    };
  }

  get guarantee() {
    return this.#context.store.guarantee;
  }

  tryAcquire(key: Key, options?: TryOptions): Promise<Lease | undefined> {
    return this.#request(key, options, false);
  }

  acquire(key: Key, options?: AcquireOptions): Promise<Lease> {
    if ((options?.waitMs ?? this.#defaults.waitMs) === 0) return this.#acquireNow(key, options);
    // Only a caller that does not wait can get undefined.
    return this.#request(key, options, true) as Promise<Lease>;
  }

  /** With waitMs 0 no timer races the response of the store: the request is sent, and never queued. */
  async #acquireNow(key: Key, options: AcquireOptions | undefined): Promise<Lease> {
    const lease = await this.#request(key, options, false);
    if (lease) return lease;
    throw new CoordinationError("timeout", `${key}: it is held or waited for, and waitMs is 0`);
  }

  async run<T>(key: Key, work: (lease: Lease) => Promise<T>, options?: AcquireOptions): Promise<T> {
    await using lease = await this.acquire(key, options);
    const result = await work(lease);
    lease.assertHeld();
    return result;
  }

  load(): LockLoad {
    const now = this.#context.clock.now();
    let held = 0;
    let waiting = 0;
    let oldestWaitMs = 0;
    for (const slot of this.#slots.values()) {
      if (slot.lease) held++;
      for (const { request, since } of slot.waiters()) {
        if (request.isStandby) continue;
        waiting++;
        oldestWaitMs = Math.max(oldestWaitMs, now - since);
      }
    }
    return { held, waiting, oldestWaitMs };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close() {
    this.#closed = true;
    const released = [];
    for (const slot of [...this.#slots.values()]) {
      slot.rejectAll(closedError());
      slot.lease?.lose(closedError());
      released.push(slot.lease?.release());
    }
    await Promise.all(released);
    await this.#context.store.close();
  }

  #request(key: Key, options: AcquireOptions | undefined, wait: boolean): Promise<HeldLease | undefined> {
    let request = this.#defaults;
    if (options || !wait) {
      request = this.#toRequest(options, wait);
      const mistake = findMistake(request, this.#maxTtlMs);
      if (mistake) return Promise.reject(new TypeError(mistake));
    }

    const { events } = this.#context;
    events.attempted?.(key);
    if (this.#closed) return this.#reject(key, closedError());
    if (request.signal?.aborted) return this.#reject(key, abortedError(key, request.signal));

    const slot = this.#slotFor(key);
    if (!wait && slot.isBusy) {
      events.contended?.(key, slot.holder);
      events.failed?.(key, "contention", 0);
      return Promise.resolve(undefined);
    }
    const lease = slot.grantNow(request);
    if (lease) {
      events.acquired?.(lease, 0);
      return Promise.resolve(lease);
    }
    return this.#enqueue(request, slot);
  }

  #enqueue(request: LockRequest, slot: Slot): Promise<HeldLease | undefined> {
    const { clock, agenda } = this.#context;
    const since = clock.now();
    return new Promise((resolve, reject) => {
      new Waiter(request, since, slot, agenda, { resolve, reject, answered: this.#onAnswer }).join();
    });
  }

  #toRequest(options: AcquireOptions = {}, wait: boolean): LockRequest {
    const { ttlMs = this.#defaults.ttlMs, cohort = this.#defaults.cohort } = options;
    return {
      ttlMs,
      cohort,
      wait,
      // A caller that does not wait for the lock still waits for the response, though not forever.
      waitMs: wait ? (options.waitMs ?? this.#defaults.waitMs) : ttlMs,
      maxHoldMs: options.maxHoldMs ?? defaultRequest.maxHoldMs,
      purpose: options.purpose,
      signal: options.signal,
      isStandby: options.isStandby ?? false,
    };
  }

  #reject(key: Key, error: CoordinationError) {
    this.#context.events.failed?.(key, error.code, 0);
    return Promise.reject(error);
  }

  readonly #onAnswer = (waiter: Waiter, answer: WaitResult) => {
    const { events, clock } = this.#context;
    const waitedMs = clock.now() - waiter.since;
    if (answer instanceof HeldLease) events.acquired?.(answer, waitedMs);
    else events.failed?.(waiter.queue.key, answer === "contention" ? answer : answer.code, waitedMs);
  };

  #slotFor(key: Key): Slot {
    let slot = this.#slots.get(key);
    if (!slot) {
      slot = new Slot(key, this.#context);
      this.#slots.set(key, slot);
    }
    return slot;
  }
}

function findMistake({ ttlMs, waitMs, cohort, maxHoldMs }: LockRequest, maxTtlMs: number): string | undefined {
  if (!(ttlMs >= minTtlMs && ttlMs <= maxTtlMs)) {
    return `ttlMs must be between ${minTtlMs} (renewal needs several round trips) and ${maxTtlMs}; got ${ttlMs}`;
  }
  if (!(waitMs >= 0 && Number.isFinite(waitMs))) return `waitMs must be a finite number, 0 or more; got ${waitMs}`;
  if (!(Number.isInteger(cohort) && cohort >= 1 && cohort <= 1_000)) {
    return `cohort must be a whole number from 1 to 1000; got ${cohort}`;
  }
  return maxHoldMs > 0 ? undefined : `maxHoldMs must be more than 0; got ${maxHoldMs}`;
}

function closedError(): CoordinationError {
  return new CoordinationError("closed", "the lock client is closed");
}
