import { Agenda, Appointment, type Backoff, backoffMs, type Clock, type Random } from "../../time/index.ts";

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Between one failure of a key and its next try. */
  readonly backoff: Backoff;
  /** A key can be taken: now is the time to call `take`. */
  readonly ready: () => void;
}

/** How work on a key ended: for now, with a wish to look again, or in a failure to be tried again after a backoff. */
export type WorkOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "again"; readonly inMs: number }
  | { readonly kind: "failed" };

/**
 * Keys to be worked on, in the order they came. A key is in it once, however often it is added, and is never given out
 * while somebody works on it: added meanwhile, it comes up once more afterwards. Every operation is O(1), and a key
 * costs memory only while it waits, is worked on or has failed.
 *
 *     absent ──add──▶ waiting ──take──▶ working ──finish──▶ absent, or waiting if added meanwhile
 *     addAfter: the same as an add later; work that begins before replaces it, because it sees the world as it is
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #agenda: Agenda;
  readonly #items = new Map<string, Item>();
  #first: Item | undefined;
  #last: Item | undefined;
  #depth = 0;
  #stopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#agenda = new Agenda(options.clock, delayResolutionMs);
  }

  /** How many keys could be taken now. */
  get depth(): number {
    return this.#depth;
  }

  /** How many keys it knows of: waiting, worked on, or to come later. */
  get size(): number {
    return this.#items.size;
  }

  /** Work on `key` begins after this call, as soon as its turn comes. */
  add(key: string): void {
    if (!this.#stopped) this.#enqueue(this.#item(key));
  }

  /** Work on `key` begins at the latest when `delayMs` are over and its turn comes; never within this call. */
  addAfter(key: string, delayMs: number): void {
    if (!Number.isFinite(delayMs)) throw new TypeError(`the delay before ${key} is ${delayMs}, not a number of ms`);
    if (this.#stopped) return;
    const item = this.#item(key);
    // Never at once, so that a key that always wants to be looked at again leaves room for everything else.
    const dueAt = this.#options.clock.now() + Math.max(delayResolutionMs, delayMs);
    if (dueAt >= item.dueAt) return;
    item.dueAt = dueAt;
    item.appointment ??= new Appointment({ due: () => this.#due(item) });
    this.#agenda.put(item.appointment, dueAt);
  }

  /** The key whose turn it is, from now on the caller's alone until `finish`. */
  take(): string | undefined {
    const item = this.#first;
    if (!item) return undefined;
    this.#first = item.next;
    if (!this.#first) this.#last = undefined;
    item.next = undefined;
    this.#depth--;
    item.state = "working";
    this.#cancelDelay(item);
    return item.key;
  }

  /** Gives a taken key back. Returns in how many milliseconds it is retried, if it failed. */
  finish(key: string, outcome: WorkOutcome): number | undefined {
    const item = this.#items.get(key);
    if (item?.state !== "working" && item?.state !== "wanted") {
      if (this.#stopped) return undefined;
      throw new TypeError(`${key} was not taken`);
    }
    const wasWanted = item.state === "wanted";
    item.state = "idle";
    item.failures = outcome.kind === "failed" ? item.failures + 1 : 0;
    if (outcome.kind === "again") this.addAfter(key, outcome.inMs);
    const retryInMs = outcome.kind === "failed" ? this.#retryDelayMs(item) : undefined;
    if (retryInMs !== undefined) this.addAfter(key, retryInMs);
    if (wasWanted) this.#enqueue(item);
    this.#forgetIfIdle(item);
    return retryInMs;
  }

  /** Gives out nothing from now on, takes in nothing, and needs no timer. Work begun may still be finished. */
  stop(): void {
    this.#stopped = true;
    for (const item of this.#items.values()) this.#cancelDelay(item);
    this.#items.clear();
    this.#first = this.#last = undefined;
    this.#depth = 0;
  }

  #item(key: string): Item {
    const known = this.#items.get(key);
    if (known) return known;
    const item: Item = { key, state: "idle", failures: 0, dueAt: never, appointment: undefined, next: undefined };
    this.#items.set(key, item);
    return item;
  }

  #due(item: Item) {
    item.dueAt = never;
    this.#enqueue(item);
  }

  #enqueue(item: Item) {
    if (item.state === "working") item.state = "wanted";
    if (item.state !== "idle") return;
    item.state = "waiting";
    if (this.#last) this.#last.next = item;
    else this.#first = item;
    this.#last = item;
    this.#depth++;
    this.#options.ready();
  }

  #cancelDelay(item: Item) {
    if (item.dueAt === never) return;
    item.dueAt = never;
    if (item.appointment) this.#agenda.remove(item.appointment);
  }

  #retryDelayMs({ failures }: Item): number {
    return backoffMs(failures, this.#options.backoff, this.#options.random.fraction());
  }

  #forgetIfIdle(item: Item) {
    if (item.state === "idle" && item.dueAt === never) this.#items.delete(item.key);
  }
}

/** Delays are not exact to the millisecond, so that those that end about the same time share a timer. */
const delayResolutionMs = 10;

const never = Number.POSITIVE_INFINITY;

interface Item {
  readonly key: string;
  /** `wanted`: added while it is being worked on. */
  state: "idle" | "waiting" | "working" | "wanted";
  failures: number;
  /** When a delay ends; `never` while there is none. */
  dueAt: number;
  /** Made for the first delay: most keys never have one. */
  appointment: Appointment | undefined;
  next: Item | undefined;
}
