import { type Clock, sleep } from "../../src/time/index.ts";
import { settle } from "../doubles/manual-clock.ts";

/** The connection of one client to its server, on the client's time. It fails on demand. */
export class Wire {
  /** How many requests were sent. */
  requests = 0;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  #state: "open" | "silent" | "refused" = "open";
  #replyDelayMs = 0;
  #losesNext = false;
  #deaf = false;
  #broken: (() => void)[] = [];

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** The server reaches us without being asked. */
  get isReceiving(): boolean {
    return this.#state === "open" && !this.#deaf;
  }

  /** Delivers a pushed message, behind the pending responses. */
  async deliver(deliver: () => void): Promise<void> {
    await settle();
    if (this.#replyDelayMs > 0) await sleep(this.#clock, this.#replyDelayMs);
    if (this.isReceiving) deliver();
  }

  /** A connection can be made. */
  get connects(): boolean {
    return this.#state === "open";
  }

  /** Whether the server still considers the connection open. */
  get looksOpen(): boolean {
    return this.#state !== "refused";
  }

  sever(): void {
    this.#state = "silent";
  }

  refuse(): void {
    this.#state = "refused";
    this.#break();
  }

  slow(ms: number): void {
    this.#replyDelayMs = ms;
  }

  loseNextReply(): void {
    this.#losesNext = true;
  }

  deafen(): void {
    this.#deaf = true;
  }

  heal(): void {
    this.#state = "open";
    this.#replyDelayMs = 0;
    this.#deaf = false;
  }

  /** Calls `then` each time connections break. */
  whenBroken(then: () => void): void {
    this.#broken.push(then);
  }

  /** Has `apply` done at the other end. Rejects when no answer will come. */
  async call<T>(apply: () => T | Promise<T>): Promise<T> {
    this.requests++;
    if (this.#state === "refused") throw new Error("connection refused");
    if (this.#state === "silent") return this.#timeOut();

    const answer = await Promise.resolve().then(apply).then(fulfilled, rejected);
    if (this.#losesNext) {
      this.#losesNext = false;
      this.#break();
      throw new Error("connection reset");
    }
    if (this.#replyDelayMs > 0) await sleep(this.#clock, this.#replyDelayMs);
    return this.connects ? answer() : this.#timeOut();
  }

  async #timeOut(): Promise<never> {
    await sleep(this.#clock, this.#timeoutMs);
    this.#break();
    throw new Error("no answer");
  }

  #break() {
    for (const then of this.#broken) then();
  }
}

function fulfilled<T>(value: T): () => T {
  return () => value;
}

function rejected(error: unknown): () => never {
  return () => {
    throw error;
  };
}
