import type { RunFailure, RunState } from "../engines/index.ts";
import type { KubeObject } from "../kube/index.ts";
import type { Blocked, NameGuarantee, Pause, PolicySettings } from "../policy/index.ts";
import type {
  FailureReason,
  RemediationApprovalRequest,
  RemediationTarget,
  WorkflowExecution,
  Workload,
} from "../resources/index.ts";
import type { Plan } from "./admission/plan.ts";

/** Everything the next step of an execution depends on, as it was found. */
export interface Snapshot {
  /** The API server's clock, read before anything else was. */
  readonly nowMs: number;
  readonly execution: WorkflowExecution;
  readonly plan: Plan;
  /** The target record. As long as the execution is Pending, or is not seen to hold it, it was read from the server. */
  readonly record: RemediationTarget | undefined;
  /** The approval that the execution refers to, as the server has it. Read while it is Pending and needs one. */
  readonly approval?: RemediationApprovalRequest;
  /** The run that has the target's name, whoever made it. */
  readonly run: ObservedRun | undefined;
  readonly pauses: readonly Pause[];
  /** The run could not be built or was refused for good, a moment ago. */
  readonly refusal?: { readonly reason: FailureReason; readonly message: string };
  /** Why it was skipped, a moment ago. After a crash only what its status says is known of that. */
  readonly decision?: Blocked;
  /** Since when no user can acknowledge or cancel in another's name, by the API server's clock. Read when one did. */
  readonly acknowledgersKnownSinceMs?: NameGuarantee | undefined;
  readonly settings: ExecutorSettings;
}

export interface ObservedRun {
  readonly object: KubeObject;
  readonly uid: string;
  readonly state: RunState;
  /** What it runs, by what and as whom. */
  readonly workload: Workload;
  /** For a run that failed: why. */
  readonly failure?: RunFailure;
  readonly owner: RunOwner;
  /** Why we asked it to stop, if we did. */
  readonly cancelledBecause?: CancelReason;
}

/** Whose run it is. Decided by uid, and by the clear target that it carries. */
export type RunOwner =
  | { readonly kind: "us" }
  /** Another execution's. `settled`: that execution has ended and named this run as its own, or is gone. */
  | { readonly kind: "other"; readonly name: string; readonly settled: boolean }
  /** Nobody's that we know, or of another target with the same name. */
  | { readonly kind: "foreign"; readonly why: string };

/**
 * `TargetLost`: the record was deleted before the run was started, and made again without the holder. `Requested`: an
 * operator cancelled the execution.
 */
export type CancelReason = "Timeout" | "ExecutionDeleted" | "TargetLost" | "Requested";

export interface ExecutorSettings extends PolicySettings {
  /** How long the run of a failed execution is kept, for people to look at. */
  readonly runTtlMs: number;
  /** How long an execution without an owner is kept after its end. */
  readonly retentionMs: number;
  /** How long the record of a target is kept after the last end on it. */
  readonly targetRetentionMs: number;
  /** Where incidents and approvals are. Whoever may write there is trusted to speak for incidents. */
  readonly incidentsNamespace: string;
}
