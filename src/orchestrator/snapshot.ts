import type { Analysis, NameGuarantee } from "../policy/index.ts";
import type {
  RemediationApprovalRequest,
  RemediationRequest,
  RemediationWorkflow,
  WorkflowExecution,
} from "../resources/index.ts";
import type { OrchestratorSettings } from "./settings.ts";

/** The observed state that the next step of an incident depends on. For routing with a target see `TargetView`. */
export interface Snapshot {
  /** The API server's clock, read before everything else. */
  readonly nowMs: number;
  readonly incident: RemediationRequest;
  /** The new analysis of an incident that was not analyzed yet, or that waits with an outdated one. */
  readonly analysis: Analysis | undefined;
  /** The version of the incident that is analyzed: see `analysisVersion`. */
  readonly analysisVersion: string;
  /** The change of rules or catalog since which the diagnosis is outdated; undefined if it is not. */
  readonly outdatedSince?: number | undefined;
  /** When the previous analysis has to be repeated, because it depends on facts of objects. */
  readonly recheckAtMs?: number | undefined;
  /** The latest execution of the incident; undefined if the server does not have it. */
  readonly execution: WorkflowExecution | undefined;
  /** Executions of the incident that may still act. */
  readonly unfinished: readonly WorkflowExecution[];
  /** The latest approval that was requested for it. */
  readonly approval: RemediationApprovalRequest | undefined;
  /** Since when no user can answer it in another user's name, by the API server's clock. Read if it was answered. */
  readonly answerersKnownSinceMs?: NameGuarantee | undefined;
  /** Since when no user can cancel it in another user's name, likewise. Read if one did. */
  readonly cancellersKnownSinceMs?: NameGuarantee | undefined;
  /** The catalog's entry for the workflow of its diagnosis, or of the analysis. */
  readonly workflow: RemediationWorkflow | undefined;
  /** Whether no later incident has the same fingerprint. */
  readonly isNewest: boolean;
  readonly settings: OrchestratorSettings;
}

/** Returns the executions that were created for the incident. */
export function ownExecutions(
  { metadata }: RemediationRequest,
  executions: readonly WorkflowExecution[],
): WorkflowExecution[] {
  return executions.filter((execution) => isOwnedBy(execution, metadata.uid));
}

/** Compares uids, because a name can be used again. */
export function isOwnedBy({ metadata }: Pick<WorkflowExecution, "metadata">, uid: string | undefined): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) ?? false;
}

/** Whether the status of the incident refers to the execution. */
export function isKnown(incident: RemediationRequest, { metadata }: WorkflowExecution): boolean {
  return incident.status?.executionRefs?.some(({ uid }) => uid === metadata.uid) ?? false;
}
