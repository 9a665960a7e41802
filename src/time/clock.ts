/** The only way to read the time or to wait. All code that depends on time takes one, so that it can run in simulation. */
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
  /** Changes whether it keeps the process alive. */
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
 * Spreads expensive work over the turns of the event loop, one call per turn, in the order of the calls. Without it, one turn
 * handles all requests that have arrived, and a cheap request waits for all of them.
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

/** A signal that aborts after `limitMs`, and as soon as `signal` does. Disposal cancels its timer. */
export function timeLimit(
  clock: Clock,
  limitMs: number,
  signal?: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  const exceeded = new AbortController();
  const timer = clock.after(limitMs, () => exceeded.abort());
  return {
    signal: signal ? AbortSignal.any([signal, exceeded.signal]) : exceeded.signal,
    [Symbol.dispose]: () => timer.cancel(),
  };
}
