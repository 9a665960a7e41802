import type { Logger, Metrics } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";

/** The prefix of a stage's metrics. */
export type Stage = "gateway" | "ro" | "executor" | "notify" | "agent";

/** The dependencies for observing the coordination of one stage. */
export interface Observer {
  readonly stage: Stage;
  /** Each function here declares its metrics, so each is called once for a stage. */
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
}

/** An event that repeats for the same key is logged once in this time; the metrics count all of them. */
export const repeatMs = 10_000;
