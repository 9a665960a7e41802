import type { StallWatch } from "../kube/index.ts";
import type { Clock } from "../time/index.ts";
import type { Admission } from "./admission.ts";

/** Senders repeat rejected signals much sooner. */
const forgetAfterMs = 300_000;

/**
 * Observes for each source whether incidents can be opened. A stall ends when an incident is opened, or when no signal has
 * failed for some time; a signal that is counted on an open incident proves nothing.
 */
export class IntakeStalls {
  readonly #stalls: StallWatch;
  readonly #clock: Clock;
  readonly #failedAt = new Map<string, number>();

  constructor(stalls: StallWatch, clock: Clock) {
    this.#stalls = stalls;
    this.#clock = clock;
  }

  failed(source: string, error: unknown): void {
    this.#failedAt.set(source, this.#clock.now());
    this.#stalls.failed(source, error);
  }

  succeeded(source: string, kind: Admission["kind"]): void {
    const failedAt = this.#failedAt.get(source);
    if (failedAt === undefined) return;
    if (kind !== "created" && this.#clock.now() - failedAt < forgetAfterMs) return;
    this.#failedAt.delete(source);
    this.#stalls.succeeded(source);
  }
}
