import type { RunFailure, RunState } from "../engines/index.ts";
import type { KubeObject } from "../kube/index.ts";
import type { Blocked, NameGuarantee, Pause, PolicySettings } from "../policy/index.ts";
import {
  executionFinalizer,
  type FailureReason,
  labelKeys,
  type ObjectTarget,
  type RecordHolder,
  type RemediationApprovalRequest,
  type RemediationTarget,
  targetHash,
  type WorkflowExecution,
  type Workload,
} from "../resources/index.ts";
import type { Plan } from "./admission/plan.ts";

/** The observed state that the next step of an execution depends on. */
export interface Snapshot {
  /** The API server's clock, read before everything else. */
  readonly nowMs: number;
  readonly execution: WorkflowExecution;
  readonly plan: Plan;
  /** The target record. Read from the server if a Running execution does not hold the cached one. */
  readonly record: RemediationTarget | undefined;
  /** The parts that are from a cache. The server confirms them before an execution without a run ends because of them. */
  readonly unconfirmed: { readonly record: boolean; readonly entry: boolean };
  /** The approval that the execution refers to. Read from the server while the execution is Pending and needs one. */
  readonly approval?: RemediationApprovalRequest;
  /** The run that has the target's name, of this execution or another. */
  readonly run: ObservedRun | undefined;
  /** Names of the pods that are still active although the run of a Running execution was deleted. */
  readonly remainingPods?: readonly string[];
  readonly pauses: readonly Pause[];
  /** The permanent refusal of the run in this reconciliation. */
  readonly refusal?: { readonly reason: FailureReason; readonly message: string };
  /** Why the execution was skipped in this reconciliation. After a crash, only its status shows the reason. */
  readonly decision?: Blocked;
  /** Since when no user can acknowledge or cancel in another user's name. Read if the execution was acknowledged or cancelled. */
  readonly acknowledgersKnownSinceMs?: NameGuarantee | undefined;
  readonly settings: ExecutorSettings;
}

export interface ObservedRun {
  readonly object: KubeObject;
  readonly uid: string;
  readonly state: RunState;
  readonly workload: Workload;
  /** Why the run failed, if it did. */
  readonly failure?: RunFailure;
  readonly owner: RunOwner;
  /** Why the executor cancelled it, if it did. */
  readonly cancelledBecause?: CancelReason;
}

/** The owner of a run, by uid and by the target in its annotation. */
export type RunOwner =
  | { readonly kind: "us" }
  /** Another execution. `settled`: that execution has ended and refers to this run, or is deleted. */
  | { readonly kind: "other"; readonly name: string; readonly settled: boolean }
  /** Not created by an execution, or of another target with the same name. */
  | { readonly kind: "foreign"; readonly why: string };

/**
 * `TargetLost`: the record was deleted before the run was started, and rebuilt without the holder. `Requested`: an
 * operator cancelled the execution.
 */
export type CancelReason = "Timeout" | "ExecutionDeleted" | "TargetLost" | "Requested";

export interface ExecutorSettings extends PolicySettings {
  /** How long the run of a failed execution is kept for diagnosis. */
  readonly runTtlMs: number;
  /** How long an execution without an owner is kept after its end. */
  readonly retentionMs: number;
  /** How long the record of a target is kept after the last end on it. */
  readonly targetRetentionMs: number;
  /** The namespace of incidents and approvals. Users who may write there are trusted to act for incidents. */
  readonly incidentsNamespace: string;
}

/** Returns the holder of the target if it is the execution. */
export function findHolder(
  { metadata }: WorkflowExecution,
  record: Pick<RemediationTarget, "status"> | undefined,
): RecordHolder | undefined {
  const holder = record?.status?.holder;
  return holder?.executionUid === metadata.uid ? holder : undefined;
}

/** Returns the labels and the finalizer that an execution needs before anything else is done. Its creator may set them. */
export function requiredMarks({ spec }: WorkflowExecution, target: ObjectTarget) {
  return {
    labels: { [labelKeys.targetHash]: targetHash(target), [labelKeys.workflowId]: spec.workflowRef.workflowId },
    finalizer: executionFinalizer,
  };
}

export function isMarked(execution: WorkflowExecution, target: ObjectTarget): boolean {
  const { labels = {}, finalizers = [] } = execution.metadata;
  const marks = requiredMarks(execution, target);
  return (
    finalizers.includes(marks.finalizer) && Object.entries(marks.labels).every(([key, value]) => labels[key] === value)
  );
}
