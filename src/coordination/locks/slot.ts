import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import { type Duties, type Renewal, Tenure, type TimeKeeping } from "../tenure.ts";
import { HeldLease } from "./held-lease.ts";
import { type Bid, type Delay, explainDelay, type Grant, type LockStore, type Terms } from "./lock-store.ts";
import type { Holder, LockEvents, ReleaseOutcome } from "./locks.ts";
import type { Waiter, WaitQueue, Wants } from "./waiter.ts";

/** What the slots of one table share. */
export interface SlotContext extends TimeKeeping {
  readonly store: LockStore;
  readonly events: LockEvents;
  /** stage/pod/pid of this process. */
  readonly who: string;
  nextHolder(): string;
  /** The slot has neither holder nor waiter left. */
  emptied(slot: Slot): void;
}

/**
 * One key in this process: callers in arrival order, and at most one turn, asked for or held.
 * The queue in front of the store is what makes two callers of one process exclude each other, and what keeps the
 * number of remote waiters at one however many wait here.
 */
export class Slot implements WaitQueue {
  readonly key: Key;
  readonly #in: SlotContext;
  #first: Waiter | undefined;
  #last: Waiter | undefined;
  #turn: Turn | undefined;
  #lease: HeldLease | undefined;
  /** The last reported holder. */
  #behind: Holder | undefined;
  #delay: Delay | undefined;

  constructor(key: Key, context: SlotContext) {
    this.key = key;
    this.#in = context;
  }

  get busy(): boolean {
    return this.#turn !== undefined || this.#first !== undefined;
  }

  get firstWaiter(): Waiter | undefined {
    return this.#first;
  }

  get lease(): HeldLease | undefined {
    return this.#lease;
  }

  /** Who holds the key, as far as we know. */
  get holder(): Holder | undefined {
    if (!this.#lease || !this.#turn) return this.#behind;
    const { clock, who } = this.#in;
    const sinceMs = clock.wallMs() - (clock.now() - this.#lease.acquiredAt);
    return { id: this.#turn.holder, who, sinceMs, purpose: this.#turn.purpose };
  }

  get delay(): string | undefined {
    return this.#delay && explainDelay(this.#delay, this.#in.clock.now());
  }

  /** The lease at once, for the first caller on a store that can grant without being waited for. */
  grantNow(wants: Wants): HeldLease | undefined {
    if (this.busy || !this.#in.store.grantNow) return undefined;
    const turn = this.#newTurn(wants);
    this.#turn = turn;
    return this.#hold(turn.begin(this.#in.store.grantNow(turn)), wants);
  }

  join(waiter: Waiter): void {
    waiter.previous = this.#last;
    if (this.#last) this.#last.next = waiter;
    else this.#first = waiter;
    this.#last = waiter;
    if (this.#turn) this.#mustWait(waiter);
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
    const turn = this.#turn;
    if (this.#first || !turn || turn.tenure) return;
    this.#turn = undefined;
    this.#in.store.withdraw(turn);
  }

  /** Asks the store on behalf of the first waiter, unless an answer is under way or the key is held here. */
  #advance() {
    if (this.#turn) return;
    if (!this.#first) return this.#in.emptied(this);
    this.#turn = this.#newTurn(this.#first.wants);
    this.#in.store.ask(this.#turn);
  }

  #newTurn(wants: Wants) {
    return new Turn(this.key, this.#in.nextHolder(), wants, this, this.#in);
  }

  /** The grant for the first waiter, or a late response to a request that is no longer needed. */
  granted(turn: Turn, terms: Terms): void {
    if (turn !== this.#turn || !this.#first) return;
    this.#behind = this.#delay = undefined;
    turn.begin(terms);
    if (turn.isOver()) return this.#tooLate(turn);
    this.#handTo(this.#first);
  }

  /** The answer took so long that the lease would be dead on arrival: give it back and ask again. */
  #tooLate(turn: Turn) {
    this.#drop(turn);
    void this.#in.store.release(turn);
    if (turn.wait) return this.#advance();
    this.#refuseFirst(
      new CoordinationError("unavailable", `${this.key}: the response of the backend arrived too late`),
    );
  }

  queued(turn: Turn, behind: Holder | undefined, delay?: Delay): void {
    if (turn !== this.#turn) return;
    this.#behind = behind;
    this.#delay = delay;
    if (!delay) this.#mustWait(this.#first);
  }

  busyElsewhere(turn: Turn, holder: Holder | undefined): void {
    if (turn !== this.#turn) return;
    this.#turn = undefined;
    this.#behind = holder;
    this.#mustWait(this.#first);
    this.#refuseFirst("contention");
  }

  failed(turn: Turn, error: CoordinationError): void {
    if (turn !== this.#turn) return;
    this.#turn = undefined;
    // A caller that does not wait fails alone. The error of a waiting caller applies to all that wait.
    if (turn.wait) this.refuseAll(error);
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
    waiter.answer(this.#hold(this.#turn as Turn, waiter.wants));
  }

  #hold(turn: Turn, wants: Wants): HeldLease {
    const acquiredAt = turn.holdFor(wants);
    const lease = new HeldLease(this.key, turn, turn.tenure as Tenure, acquiredAt, this);
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
    const turn = this.#turn;
    // The lease is lost: another holder may have the key, so there is nothing to release.
    if (!turn || lease !== this.#lease) return lost;

    if (this.#first && turn.mayPassOn()) {
      this.#handTo(this.#first);
      return released;
    }
    this.#drop(turn);
    const outcome = this.#in.store.release(turn);
    // Behind the release, so that waiters of other processes that queued earlier come first.
    this.#advance();
    return outcome;
  }

  #drop(turn: Turn) {
    turn.tenure?.stop();
    this.#turn = this.#lease = undefined;
  }

  renewalFailed(cause: unknown): void {
    if (this.#lease) this.#in.events.renewalFailed?.(this.#lease, cause);
  }

  ended(cause: CoordinationError): void {
    const lease = this.#lease;
    if (!lease) return;
    lease.lose(cause);
    this.#in.events.lost?.(lease, cause);
  }

  vacated(): void {
    this.#turn = this.#lease = undefined;
    this.#advance();
  }
}

/**
 * One turn at the key: a request to the store, then its grant. The store's responses are addressed to the turn,
 * so that one that comes late is never taken for the answer to a newer question.
 */
class Turn implements Bid, Grant, Duties {
  readonly key: Key;
  readonly holder: string;
  readonly wait: boolean;
  readonly cohort: number;
  ttlMs: number;
  purpose: string | undefined;
  /** Set when granted. */
  tenure: Tenure | undefined;
  /** The fence of the caller that holds it now. A turn passed on inside the process gets a new one each time. */
  fence = 0n;
  #nextFence = 0n;
  #fencesLeft = 0;
  readonly #slot: Slot;
  readonly #in: SlotContext;

  constructor(key: Key, holder: string, wants: Wants, slot: Slot, context: SlotContext) {
    this.key = key;
    this.holder = holder;
    this.wait = wants.wait;
    this.cohort = wants.cohort;
    this.ttlMs = wants.ttlMs;
    this.purpose = wants.purpose;
    this.#slot = slot;
    this.#in = context;
  }

  get bid(): Bid {
    return this;
  }

  get deadline(): number {
    return this.tenure?.deadline ?? 0;
  }

  begin(terms: Terms): this {
    this.#nextFence = terms.fence;
    this.#fencesLeft = terms.fences;
    this.tenure = new Tenure(terms, this, this.#in);
    this.tenure.start(terms.unconfirmed === true);
    return this;
  }

  /** Did the promise run out before it arrived? */
  isOver(): boolean {
    return (this.tenure as Tenure).remainingMs() <= 0;
  }

  /** May the next caller of this process have it without asking the store? */
  mayPassOn(): boolean {
    return this.#fencesLeft > 0 && (this.tenure as Tenure).holding && !this.isOver();
  }

  /** Makes it the turn of a caller with these wishes, from now on; returns now. */
  holdFor(wants: Wants): number {
    const now = this.#in.clock.now();
    // A renewal for less time than was promised before would end that promise early, unseen until its answer comes.
    this.ttlMs = Math.max(this.ttlMs, wants.ttlMs);
    this.purpose = wants.purpose;
    this.fence = this.#nextFence;
    this.#fencesLeft--;
    if (this.#fencesLeft > 0) this.#nextFence += 1n;
    (this.tenure as Tenure).holdUntil(now + wants.maxHoldMs);
    return now;
  }

  granted(terms: Terms): void {
    this.#slot.granted(this, terms);
  }
  queued(behind: Holder | undefined, delay?: Delay): void {
    this.#slot.queued(this, behind, delay);
  }
  busy(holder: Holder | undefined): void {
    this.#slot.busyElsewhere(this, holder);
  }
  failed(error: CoordinationError): void {
    this.#slot.failed(this, error);
  }
  renew(): Promise<Renewal> {
    return this.#in.store.renew(this);
  }
  renewalFailed(cause: unknown): void {
    this.#slot.renewalFailed(cause);
  }
  ended(cause: CoordinationError): void {
    this.#slot.ended(cause);
  }
  vacated(): void {
    this.#slot.vacated();
  }
}

const released: Promise<ReleaseOutcome> = Promise.resolve({ released: true });
const lost: Promise<ReleaseOutcome> = Promise.resolve({ released: false, reason: "lost" });
