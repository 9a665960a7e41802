import type { Clock } from "../../time/index.ts";
import type { Bid } from "../locks/lock-store.ts";

/** The progress of a bid that has no response yet, or whose traces on the server are not removed yet. */
export class OpenBid {
  readonly bid: Bid;
  readonly name: string;
  /** Answered or withdrawn. */
  over = false;
  /** The bid may be on the server. */
  leftTraces = false;
  /** Its traces are being removed. */
  retracting = false;
  /** The Lease was read from the server, not from the watch. */
  hasRead = false;
  /** The cached Lease may be outdated: read it before the next move. */
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

  /** True if it was woken before the time was over. */
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
