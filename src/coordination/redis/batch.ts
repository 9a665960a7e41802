import type { Clock } from "../../time/index.ts";
import type { LockLink, LockOperation, Replies, Reply } from "./lock-link.ts";

/** An operation and the callbacks for its reply. */
export interface PendingOperation {
  readonly operation: LockOperation;
  /** `sentAt`: local time right before the bytes left, the earliest the server can have acted. */
  answered(reply: Reply, sentAt: number): void;
  failed(cause: unknown): void;
}

/** More in one call would keep Redis busy for longer than other clients should have to wait. */
const maxPerCall = 128;
/** Calls under way at once: while the server works on one, we prepare the next. */
const maxCalls = 2;
/** From so many on, operations that come together leave in two calls: in one, client and server would wait for each other. */
const minDivided = 16;

/**
 * Gathers the operations of one event-loop turn into one call. That is where the throughput comes from: the cost of a
 * call, on both sides, is shared by everything in it. The first operation after a silence still leaves at once.
 */
export class Batch {
  readonly #link: LockLink;
  readonly #clock: Clock;
  readonly #read: (localMs: number, serverMs: number) => void;
  readonly #pending = new Set<PendingOperation>();
  #calls = 0;
  #scheduled = false;
  #whenDrained: (() => void) | undefined;

  /** `read` gets pairs of clock readings: ours when a call left, the server's when it worked. */
  constructor(link: LockLink, clock: Clock, read: (localMs: number, serverMs: number) => void) {
    this.#link = link;
    this.#clock = clock;
    this.#read = read;
  }

  add(question: PendingOperation): void {
    this.#pending.add(question);
    this.#schedule();
  }

  /** True if it was still here, and now never leaves. */
  takeBack(question: PendingOperation): boolean {
    return this.#pending.delete(question);
  }

  ask(operation: LockOperation): Promise<Reply> {
    return new Promise((answered, failed) => this.add({ operation, answered, failed }));
  }

  /** Resolves when nothing is waiting or under way. */
  drain(): Promise<void> {
    if (this.#calls === 0 && this.#pending.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenDrained = resolve;
    });
  }

  #schedule() {
    if (this.#scheduled || this.#calls >= maxCalls) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush() {
    const { size } = this.#pending;
    if (size === 0) return;
    const isDivided = this.#calls === 0 && size >= minDivided;
    const count = Math.min(isDivided ? Math.ceil(size / 2) : size, maxPerCall);
    const questions: PendingOperation[] = [];
    for (const question of this.#pending) {
      if (questions.push(question) === count) break;
    }
    if (questions.length === this.#pending.size) this.#pending.clear();
    else for (const question of questions) this.#pending.delete(question);

    this.#calls++;
    const sentAt = this.#clock.now();
    this.#link.send(questions.map(({ operation }) => operation)).then(
      (replies) => this.#answered(questions, replies, sentAt),
      (cause) => this.#failed(questions, cause),
    );
    if (this.#pending.size > 0) this.#schedule();
  }

  #answered(questions: readonly PendingOperation[], { serverMs, each }: Replies, sentAt: number) {
    if (serverMs !== undefined) this.#read(sentAt, serverMs);
    this.#calls--;
    for (let i = 0; i < questions.length; i++) (questions[i] as PendingOperation).answered(each[i] as Reply, sentAt);
    this.#next();
  }

  #failed(questions: readonly PendingOperation[], cause: unknown) {
    this.#calls--;
    for (const question of questions) question.failed(cause);
    this.#next();
  }

  #next() {
    if (this.#pending.size > 0) this.#schedule();
    else if (this.#calls === 0) this.#whenDrained?.();
  }
}
