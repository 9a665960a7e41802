import { type Clock, sleep } from "./clock.ts";

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
