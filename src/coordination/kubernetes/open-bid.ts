import type { Clock } from "../../time/index.ts";
import type { Bid } from "../locks/lock-store.ts";

/** The progress of a bid that is not answered yet, or whose traces on the server are not removed yet. */
export class OpenBid {
  readonly bid: Bid;
  readonly name: string;
  /** Answered or withdrawn. */
  over = false;
  /** The server may know of this bid. */
  leftTraces = false;
  /** Its traces are being removed. */
  retracting = false;
  /** We have asked the server itself how things stand. */
  hasRead = false;
  /** What we know of the Lease may be old in a way that matters. */
  mustRead = false;
  #wake: (() => void) | undefined;

  constructor(bid: Bid, name: string) {
    this.bid = bid;
    this.name = name;
  }

  withdraw(): void {
    this.over = true;
    this.wake();
  }

  wake(): void {
    this.#wake?.();
  }

  /** True if something woke it before the time was over. */
  sleep(clock: Clock, ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (woken: boolean) => {
        timer.cancel();
        this.#wake = undefined;
        resolve(woken);
      };
      const timer = clock.after(ms, () => end(false));
      this.#wake = () => end(true);
    });
  }
}
