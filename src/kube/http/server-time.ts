import type { Clock } from "../../time/index.ts";

/**
 * The server's clock, told by the `Date` of its answers. Those have whole seconds, so each answer only says that the
 * clock was within one second while the answer was under way. Of all that fits every answer the earliest is shown: never
 * ahead of the server, behind it by less than a second and a round trip, and closer with every answer. An answer that
 * contradicts the earlier ones (another replica, a clock that was set) is believed alone.
 */
export class ServerTime {
  readonly #clock: Clock;
  /** What to add to the monotonic clock: at least, and less than. */
  #offset: { atLeast: number; below: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Before the first answer, this machine's own time. */
  nowMs(): number {
    return this.#offset ? this.#clock.now() + this.#offset.atLeast : this.#clock.wallMs();
  }

  /** An answer with this `Date` header arrived now, to a request sent at `sentAt`. */
  answered(date: string | undefined, sentAt: number): void {
    const shownMs = Date.parse(date ?? "");
    if (Number.isNaN(shownMs)) return;

    const seen = { atLeast: shownMs - this.#clock.now(), below: shownMs + 1_000 - sentAt };
    const atLeast = Math.max(seen.atLeast, this.#offset?.atLeast ?? seen.atLeast);
    const below = Math.min(seen.below, this.#offset?.below ?? seen.below);
    this.#offset = atLeast < below ? { atLeast, below } : seen;
  }
}
