import type { LoadedConfig } from "../config/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { KindsCache } from "../resources/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import type { HealthReports } from "./health/health-reports.ts";

/** What every part of a process is given. */
export interface ProcessTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The options of every stage. */
export interface StageOptions extends ProcessTools {
  readonly loaded: Pick<LoadedConfig, "config" | "origins">;
  readonly client: KubeClient;
  readonly ledger: Ledger;
  /** The only user that the API server allows to write, if there is one: the embedded server's. */
  readonly onlyUser?: string;
  /** The kinds that several stages of the process share; without them, a stage that needs kinds watches them itself. */
  readonly kinds?: KindsCache;
  /** Where problems are reported that no object shows, for `interlock status`. */
  readonly health?: HealthReports;
}

/** A stage at work. */
export interface Stage {
  readonly isReady: boolean;
  /** Why it is not ready although it works: the API server refuses even to record what keeps failing. */
  readonly problem?: string | undefined;
  readonly ready: Promise<void>;
  /** Ends what can be ended in time; nothing is lost by what cannot. */
  close(): Promise<void>;
}

/** The stage that a controller is. `close` also ends what was opened for it. */
export function toStage(controller: Omit<Stage, "close">, close: () => Promise<void>): Stage {
  return {
    get isReady() {
      return controller.isReady;
    },
    get problem() {
      return controller.problem;
    },
    ready: controller.ready,
    close,
  };
}
