import { Agenda, Appointment, type Backoff, backoffMs, type Clock, type Random } from "../../time/index.ts";

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The delay between a failure of a key and its retry. */
  readonly backoff: Backoff;
  /** Called when a key can be taken. */
  readonly ready: () => void;
}

/**
 * The result of work on a key: done, to be repeated after a delay, or failed and to be retried after a backoff. Skipped work
 * was not attempted: the failures before it still count.
 */
export type WorkOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "again"; readonly inMs: number }
  | { readonly kind: "skipped"; readonly inMs: number }
  | { readonly kind: "failed" };

/**
 * Keys to be worked on, in the order in which they were added. A key is in the queue once, however often it is added. It is
 * worked on once at a time: if it is added meanwhile, it is queued again afterwards. Every operation is O(1), and a key costs
 * memory only while it waits, is worked on or has failed.
 *
 *     absent ──add──▶ waiting ──take──▶ working ──finish──▶ absent, or waiting if added meanwhile
 *     addAfter: the same as an add later; work that begins before replaces it, because it reads the current state
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

  /** The number of keys that can be taken now. */
  get depth(): number {
    return this.#depth;
  }

  /** The number of keys that wait, are worked on, or have a delay. */
  get size(): number {
    return this.#items.size;
  }

  /** Queues `key`, unless it waits already. */
  add(key: string): void {
    if (!this.#stopped) this.#enqueue(this.#item(key));
  }

  /** Queues `key` after `delayMs`, unless it is queued before. */
  addAfter(key: string, delayMs: number): void {
    if (!Number.isFinite(delayMs)) throw new TypeError(`the delay before ${key} is ${delayMs}, not a number of ms`);
    if (this.#stopped) return;
    const item = this.#item(key);
    // There is always a delay, so that a key that is requeued again and again does not starve the others.
    const dueAt = this.#options.clock.now() + Math.max(delayResolutionMs, delayMs);
    if (dueAt >= item.dueAt) return;
    item.dueAt = dueAt;
    item.appointment ??= new Appointment({ due: () => this.#due(item) });
    this.#agenda.put(item.appointment, dueAt);
  }

  /** Takes the first key, which no other caller gets until `finish`. */
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

  /** Ends the work on a taken key. Returns in how many milliseconds it is retried, if it failed. */
  finish(key: string, outcome: WorkOutcome): number | undefined {
    const item = this.#items.get(key);
    if (item?.state !== "working" && item?.state !== "wanted") {
      if (this.#stopped) return undefined;
      throw new TypeError(`${key} was not taken`);
    }
    const wasWanted = item.state === "wanted";
    item.state = "idle";
    if (outcome.kind !== "skipped") item.failures = outcome.kind === "failed" ? item.failures + 1 : 0;
    if (outcome.kind === "again" || outcome.kind === "skipped") this.addAfter(key, outcome.inMs);
    const retryInMs = outcome.kind === "failed" ? this.#retryDelayMs(item) : undefined;
    if (retryInMs !== undefined) this.addAfter(key, retryInMs);
    if (wasWanted) this.#enqueue(item);
    this.#forgetIfIdle(item);
    return retryInMs;
  }

  /** Drops all keys and timers, and accepts no more. Work in progress may still be finished. */
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

/** Delays are rounded, so that delays that end at about the same time share a timer. */
const delayResolutionMs = 10;

const never = Number.POSITIVE_INFINITY;

interface Item {
  readonly key: string;
  /** `wanted`: added while it is being worked on. */
  state: "idle" | "waiting" | "working" | "wanted";
  failures: number;
  /** When a delay ends; `never` while there is none. */
  dueAt: number;
  /** Created with the first delay: most keys never have one. */
  appointment: Appointment | undefined;
  next: Item | undefined;
}
