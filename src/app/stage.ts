import type { LoadedConfig } from "../config/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { KindsCache } from "../resources/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import type { HealthReports } from "./health/health-reports.ts";

/** The options of every part of a process. */
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

/** A running stage. */
export interface Stage {
  readonly isReady: boolean;
  /** Why it is not ready although it works: the API server rejects even the reports of failing writes. */
  readonly problem?: string | undefined;
  readonly ready: Promise<void>;
  /** Stops within a deadline. Unfinished work is lost by no stop: it is repeated after the next start. */
  close(): Promise<void>;
}

/** Makes a stage of a controller. `close` also closes the resources that were opened for it. */
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
