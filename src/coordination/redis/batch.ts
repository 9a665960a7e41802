import type { Clock } from "../../time/index.ts";
import type { LockLink, LockOperation, Replies, Reply } from "./lock-link.ts";

/** An operation and the callbacks for its reply. */
export interface PendingOperation {
  readonly operation: LockOperation;
  /** `sentAt`: local time right before the bytes left, the earliest the server can have acted. */
  answered(reply: Reply, sentAt: number): void;
  failed(cause: unknown): void;
}

/** More operations in one call would block other clients of Redis for too long. */
const maxPerCall = 128;
/** Concurrent calls: while the server works on one, we prepare the next. */
const maxCalls = 2;
/** This many operations of one turn are sent in two calls: with one call, client and server would wait for each other. */
const minDivided = 16;

/**
 * Sends the operations of one event-loop turn in one call. The cost of a call, on both sides, is shared by all operations in
 * it, which is what makes the throughput high. The first operation after an idle time is still sent at once.
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

  add(pending: PendingOperation): void {
    this.#pending.add(pending);
    this.#schedule();
  }

  /** True if the operation was not sent yet; then it will not be. */
  remove(pending: PendingOperation): boolean {
    return this.#pending.delete(pending);
  }

  send(operation: LockOperation): Promise<Reply> {
    return new Promise((answered, failed) => this.add({ operation, answered, failed }));
  }

  /** Resolves when no operation is unsent or without a reply. */
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
    const sent: PendingOperation[] = [];
    for (const pending of this.#pending) {
      if (sent.push(pending) === count) break;
    }
    if (sent.length === this.#pending.size) this.#pending.clear();
    else for (const pending of sent) this.#pending.delete(pending);

    this.#calls++;
    const sentAt = this.#clock.now();
    this.#link.send(sent.map(({ operation }) => operation)).then(
      (replies) => this.#answered(sent, replies, sentAt),
      (cause) => this.#failed(sent, cause),
    );
    if (this.#pending.size > 0) this.#schedule();
  }

  #answered(sent: readonly PendingOperation[], { serverMs, each }: Replies, sentAt: number) {
    if (serverMs !== undefined) this.#read(sentAt, serverMs);
    this.#calls--;
    for (const [i, operation] of sent.entries()) operation.answered(each[i] as Reply, sentAt);
    this.#next();
  }

  #failed(sent: readonly PendingOperation[], cause: unknown) {
    this.#calls--;
    for (const operation of sent) operation.failed(cause);
    this.#next();
  }

  #next() {
    if (this.#pending.size > 0) this.#schedule();
    else if (this.#calls === 0) this.#whenDrained?.();
  }
}
