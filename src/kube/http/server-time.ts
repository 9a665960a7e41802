import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../../time/index.ts";

/** A header of our own API server: its clock in milliseconds since 1970. Other servers have only `Date`. */
export const exactTimeHeader = "x-interlock-time-ms";

/**
 * The server's clock, read from its responses: our own server sends milliseconds, others only `Date` with whole seconds. During
 * each request the clock was within that unit. Of the times that fit all responses, `nowMs` is the earliest: never ahead of the
 * server, behind it by less than a unit and a round trip, and closer with every response. A response that contradicts the
 * earlier ones (another replica, a clock that was set) replaces them.
 */
export class ServerTime {
  readonly #clock: Clock;
  /** The bounds of the difference between the server's clock and the monotonic clock. */
  #offset: { atLeast: number; below: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Before the first response, this machine's own time. */
  nowMs(): number {
    return this.#offset ? this.#clock.now() + this.#offset.atLeast : this.#clock.wallMs();
  }

  /** Takes in the headers of a response that arrived now, to a request sent at `sentAt`. */
  observe(headers: IncomingHttpHeaders, sentAt: number): void {
    const { shownMs, unitMs } = readTime(headers);
    if (Number.isNaN(shownMs)) return;

    const seen = { atLeast: shownMs - this.#clock.now(), below: shownMs + unitMs - sentAt };
    const atLeast = Math.max(seen.atLeast, this.#offset?.atLeast ?? seen.atLeast);
    const below = Math.min(seen.below, this.#offset?.below ?? seen.below);
    this.#offset = atLeast < below ? { atLeast, below } : seen;
  }
}

function readTime({ date = "", [exactTimeHeader]: exact }: IncomingHttpHeaders) {
  if (typeof exact === "string" && /^\d{1,15}$/.test(exact)) return { shownMs: Number(exact), unitMs: 1 };
  return { shownMs: Date.parse(date), unitMs: 1_000 };
}
