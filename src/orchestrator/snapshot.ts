import type { Analysis, NameGuarantee } from "../policy/index.ts";
import type {
  RemediationApprovalRequest,
  RemediationRequest,
  RemediationWorkflow,
  WorkflowExecution,
} from "../resources/index.ts";
import type { OrchestratorSettings } from "./settings.ts";

/** Everything the next step of an incident depends on, as it was found. What waits for its target is in `TargetView`. */
export interface Snapshot {
  /** The API server's clock, read before anything else was. */
  readonly nowMs: number;
  readonly incident: RemediationRequest;
  /** For an incident that was not analyzed yet, or one that waits with an outdated analysis: what the analyzer says. */
  readonly analysis: Analysis | undefined;
  /** The version of the incident that an analysis is made for: see `analysisVersion`. */
  readonly analysisVersion: string;
  /** The change of rules or catalog since which the diagnosis is outdated; undefined if it is not. */
  readonly outdatedSince?: number | undefined;
  /** When the latest analysis before has to be repeated, because it depends on facts of objects. */
  readonly recheckAtMs?: number | undefined;
  /** The latest execution that was made for it; undefined if that is gone, by the server's word. */
  readonly execution: WorkflowExecution | undefined;
  /** Executions of ours that may still act. */
  readonly unfinished: readonly WorkflowExecution[];
  /** The latest question that was asked for it. */
  readonly approval: RemediationApprovalRequest | undefined;
  /** Since when nobody can answer it in another's name, by the API server's clock. Asked when it was answered. */
  readonly answerersKnownSinceMs?: NameGuarantee | undefined;
  /** Since when no user can cancel it in another's name, likewise. Read when one did. */
  readonly cancellersKnownSinceMs?: NameGuarantee | undefined;
  /** The catalog's entry for the workflow of its diagnosis, or of the analysis. */
  readonly workflow: RemediationWorkflow | undefined;
  /** Whether no later incident has the same fingerprint. */
  readonly isNewest: boolean;
  readonly settings: OrchestratorSettings;
}
