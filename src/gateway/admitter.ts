import type { Signal } from "../resources/index.ts";
import type { WarnLimited } from "../telemetry/index.ts";
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
  readonly warn: WarnLimited;
  readonly clock: Clock;
}

/** How many new signals of one request are admitted at once. */
const maxOpeningAtOnce = 8;

/** Admits signals, alone or in slices, and counts, logs and reports their outcomes. */
export class Admitter {
  readonly #options: AdmitterOptions;

  constructor(options: AdmitterOptions) {
    this.#options = options;
  }

  async admit(signal: Signal): Promise<Admission> {
    const { intake, metrics, intakeStalls, warn } = this.#options;
    try {
      const admission = await intake.admit(signal);
      metrics.admitted(signal.source, admission.kind);
      intakeStalls.succeeded(signal.source, admission.kind);
      return admission;
    } catch (error) {
      const { source, name, sender } = signal;
      if (isLimit(error)) {
        metrics.admitted(source, "limited");
        warn("open incidents limit reached", { sender, error }, sender);
      } else {
        metrics.admitted(source, "unavailable");
        intakeStalls.failed(source, error);
        warn("signal not admitted", { source, name, error }, error);
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

  /** Most of these open incidents: a few at a time, because each blocks the process for milliseconds. */
  async #admitOthers(signals: readonly Signal[]): Promise<readonly (Admission | NotAdmitted)[]> {
    const all: (Admission | NotAdmitted)[] = [];
    const admitFew = async (few: readonly Signal[]) => {
      all.push(...(await Promise.all(few.map((signal) => this.admit(signal).catch(toNotAdmitted)))));
    };
    await sliceSignals(signals, this.#options.clock, admitFew, maxOpeningAtOnce);
    return all;
  }

  async #finish(signals: readonly Signal[], { admissions, kept, others }: Slice) {
    const { metrics, warn } = this.#options;
    const repeated = signals.filter((_, i) => admissions[i]);
    const failure = await kept.then(() => undefined, toNotAdmitted);
    if (failure) {
      const { error } = failure;
      warn("repeated signals not counted", { signals: repeated.length, error }, error);
    }
    // Nearly always, all signals of a request are of one source.
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

/** Repeated signals per slice: few enough for a slice to take only a few milliseconds. */
const sliceSize = 64;

/**
 * Calls `work` with slices of `items`, in order and one at a time. Other requests proceed in between: thousands of signals
 * in one request must neither block them nor be in progress all at once.
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
