/** The only way to learn the time or to wait. Everything that depends on time takes one, so it can run in simulation. */
export interface Clock {
  /** Milliseconds on this process' monotonic clock. Only differences mean anything. */
  now(): number;
  /** Milliseconds since 1970 by this machine's clock. For records and display; never compared with another machine's. */
  wallMs(): number;
  /** Calls `wake` once, `delayMs` from now. A `background` timer does not keep the process alive. */
  after(delayMs: number, wake: () => void, options?: { readonly background?: boolean }): Timer;
}

/** A pending call of `Clock.after`. */
export interface Timer {
  cancel(): void;
  /** Decides anew whether it keeps the process alive. */
  setBackground(yes: boolean): void;
}

/** Resolves after `delayMs`; rejects with the signal's reason as soon as it aborts. */
export function sleep(
  clock: Clock,
  delayMs: number,
  signal?: AbortSignal,
  options?: { readonly background?: boolean },
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);

    const wake = () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    const timer = clock.after(delayMs, wake, options);
    function stop() {
      timer.cancel();
      reject(signal?.reason);
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/**
 * Lets expensive pieces of work run one per turn of the event loop, in the order in which they asked. Without it, one turn
 * handles every request that has arrived, and a cheap request waits for all of them.
 */
export class Pacer {
  readonly #clock: Clock;
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when it is the caller's turn. */
  turn(): Promise<void> {
    this.#last = this.#last.then(() => sleep(this.#clock, 0));
    return this.#last;
  }
}
