import type { PolicySettings } from "../policy/index.ts";
import type { Engine, RemediationRequest } from "../resources/index.ts";

/** The settings of the orchestrator. */
export interface OrchestratorSettings extends PolicySettings {
  /** A waiting incident is withdrawn after this time without a report. */
  readonly staleAfterMs: number;
  readonly staleAfterBySource: ReadonlyMap<string, number>;
  /** The maximum time from the creation of an execution until it is cancelled. */
  readonly executionTimeoutMs: number;
  /** The time until an approval expires, unless the workflow sets its own. */
  readonly approvalExpiresAfterMs: number;
  readonly verification: {
    /** Signals within this time after a run do not count as a recurrence. */
    readonly graceMs: number;
    /** How long an incident is verified after a run. */
    readonly windowMs: number;
  };
  /** Whether each closed incident gets a notice. */
  readonly notifyClosed: boolean;
  /** How long closed incidents are kept. */
  readonly retentionMs: number;
  /** The engine of workflows that name none. */
  readonly engine: Engine;
}

/** Returns after how much time without a report an incident is stale: as its source sets it, or the default. */
export function staleAfterMs({ spec }: RemediationRequest, settings: OrchestratorSettings): number {
  return settings.staleAfterBySource.get(spec.signalSource ?? "") ?? settings.staleAfterMs;
}
