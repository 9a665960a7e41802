import type { Signal } from "../resources/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type Clock, sleep } from "../time/index.ts";
import type { Admission, NotAdmitted } from "./admission.ts";
import type { Intake, Repeats } from "./admit.ts";
import { isLimit } from "./gateway-error.ts";
import type { IntakeStalls } from "./intake-stalls.ts";
import type { GatewayMetrics } from "./metrics.ts";

interface AdmitterOptions {
  readonly intake: Intake;
  readonly metrics: GatewayMetrics;
  readonly intakeStalls: IntakeStalls;
  readonly log: Logger;
  readonly clock: Clock;
}

/** The signals of one request that are admitted at once. */
const maxOpeningAtOnce = 8;

/** Admits signals, alone or in slices, and counts, logs and reports their outcomes. */
export class Admitter {
  readonly #options: AdmitterOptions;
  readonly #limits = new Throttle(60_000);

  constructor(options: AdmitterOptions) {
    this.#options = options;
  }

  async admit(signal: Signal): Promise<Admission> {
    const { intake, metrics, intakeStalls, log, clock } = this.#options;
    try {
      const admission = await intake.admit(signal);
      metrics.admitted(signal.source, admission.kind);
      intakeStalls.succeeded(signal.source, admission.kind);
      return admission;
    } catch (error) {
      const isLimited = isLimit(error);
      if (!isLimited) intakeStalls.failed(signal.source, error);
      metrics.admitted(signal.source, isLimited ? "limited" : "unavailable");
      // A flood must not flood the log, too.
      if (!isLimited) log.warn("signal not admitted", { source: signal.source, name: signal.name, error });
      else if (this.#limits.isDue(clock.now())) {
        log.warn("open incidents limit reached", { sender: signal.sender, error });
      }
      throw error;
    }
  }

  async admitAll(signals: readonly Signal[]): Promise<readonly (Admission | NotAdmitted)[]> {
    const { intake, clock } = this.#options;
    const slices: Promise<readonly (Admission | NotAdmitted)[]>[] = [];
    await sliceSignals(signals, clock, (slice) => {
      const { admissions, kept } = intake.countRepeats(slice);
      const others = this.#admitOthers(slice.filter((_, i) => !admissions[i]));
      slices.push(this.#finish(slice, { admissions, kept, others }));
      // Counts are stored together with those of the next slices; other signals are admitted before the next slice.
      return others;
    });
    return (await Promise.all(slices)).flat();
  }

  /** Opens incidents, mostly: a few at a time, because each takes milliseconds in which no other request is answered. */
  async #admitOthers(signals: readonly Signal[]): Promise<readonly (Admission | NotAdmitted)[]> {
    const all: (Admission | NotAdmitted)[] = [];
    const admitFew = async (few: readonly Signal[]) => {
      all.push(...(await Promise.all(few.map((signal) => this.admit(signal).catch(toNotAdmitted)))));
    };
    await sliceSignals(signals, this.#options.clock, admitFew, maxOpeningAtOnce);
    return all;
  }

  async #finish(signals: readonly Signal[], { admissions, kept, others }: Slice) {
    const { metrics, log } = this.#options;
    const repeated = signals.filter((_, i) => admissions[i]);
    const failure = await kept.then(() => undefined, toNotAdmitted);
    if (failure) log.warn("repeated signals not counted", { signals: repeated.length, error: failure.error });
    // All signals of one request come from one source.
    metrics.admitted(repeated[0]?.source ?? "", failure ? "unavailable" : "counted", repeated.length);
    const rest = (await others).values();
    return admissions.map((admission) => (admission ? (failure ?? admission) : (rest.next().value as Admission)));
  }
}

interface Slice extends Repeats {
  /** The outcomes of the signals that are not repeated, in their order. */
  readonly others: Promise<readonly (Admission | NotAdmitted)[]>;
}

function toNotAdmitted(error: unknown): NotAdmitted {
  return { kind: "failed", error };
}

/** Limits an action to one per interval, such as logging a flood. */
class Throttle {
  readonly #everyMs: number;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  isDue(nowMs: number): boolean {
    if (nowMs - this.#lastAt < this.#everyMs) return false;
    this.#lastAt = nowMs;
    return true;
  }
}

/** Number of repeated signals per slice: small enough that one slice takes a few milliseconds. */
const sliceSize = 64;

/**
 * Calls `work` with slices of `items`, in order and one at a time, and lets other requests have the process in between:
 * thousands of signals in one request must neither block the others nor have all their work in memory at once.
 */
export async function sliceSignals<T>(
  items: readonly T[],
  clock: Clock,
  work: (slice: readonly T[]) => Promise<unknown>,
  size = sliceSize,
): Promise<void> {
  for (let at = 0; at < items.length; at += size) {
    if (at > 0) await sleep(clock, 0);
    await work(items.length <= size ? items : items.slice(at, at + size));
  }
}
