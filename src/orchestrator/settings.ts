import type { PolicySettings } from "../policy/index.ts";
import type { Engine, RemediationRequest } from "../resources/index.ts";

/** What the orchestrator can be told. */
export interface OrchestratorSettings extends PolicySettings {
  /** An incident that waits is withdrawn when it was not reported again for so long. */
  readonly staleAfterMs: number;
  readonly staleAfterBySource: ReadonlyMap<string, number>;
  /** From the making of an execution until it is cancelled. */
  readonly executionTimeoutMs: number;
  /** How long an approval is waited for, unless the workflow says otherwise. */
  readonly approvalExpiresAfterMs: number;
  readonly verification: {
    /** Signals that come so soon after a run do not mean that it did not help. */
    readonly graceMs: number;
    /** How long after a run the incident is watched. */
    readonly windowMs: number;
  };
  /** Whether each closed incident gets a notice. */
  readonly notifyClosed: boolean;
  /** How long closed incidents are kept. */
  readonly retentionMs: number;
  /** What runs a workflow that does not say so itself. */
  readonly engine: Engine;
}

/** After how much silence an incident is stale: what its source says, if it has a word of its own. */
export function staleAfterOf({ spec }: RemediationRequest, settings: OrchestratorSettings): number {
  return settings.staleAfterBySource.get(spec.signalSource ?? "") ?? settings.staleAfterMs;
}
