import type { Logger, Metrics } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";

/** The prefix of a stage's metrics. */
export type Stage = "gateway" | "ro" | "executor" | "notify" | "agent";

/** What the coordination of one stage is watched with. */
export interface Observer {
  readonly stage: Stage;
  /** Each function here declares its metrics, so each is called once for a stage. */
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
}
