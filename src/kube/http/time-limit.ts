import type { Clock } from "../../time/index.ts";

/** A signal that aborts when the caller aborts or after a timeout, whichever is first. */
export class TimeLimit {
  readonly #stop = new AbortController();
  readonly #release: () => void;
  readonly #clock: Clock;
  readonly #endsAt: number;

  constructor(clock: Clock, ms: number, caller?: AbortSignal) {
    this.#clock = clock;
    this.#endsAt = clock.now() + ms;
    const timer = clock.after(ms, () => this.#stop.abort());
    const stopped = () => this.#stop.abort();
    caller?.addEventListener("abort", stopped, { once: true });
    if (caller?.aborted) stopped();
    this.#release = () => {
      timer.cancel();
      caller?.removeEventListener("abort", stopped);
    };
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get remainingMs(): number {
    return this.#endsAt - this.#clock.now();
  }

  /** The result of `work`, or a rejection as soon as the limit is reached. */
  async race<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    let stopped: () => void = () => {};
    const reached = new Promise<never>((_, reject) => {
      stopped = () => reject(signal.reason);
      signal.addEventListener("abort", stopped, { once: true });
      if (signal.aborted) stopped();
    });
    try {
      return await Promise.race([work, reached]);
    } finally {
      signal.removeEventListener("abort", stopped);
    }
  }

  [Symbol.dispose](): void {
    this.#release();
  }
}
