import { decision } from "../kube/index.ts";
import type { LedgerEvent } from "../ledger/index.ts";
import type { Blocked } from "../policy/index.ts";
import type {
  FailureDetails,
  NotificationRequest,
  RemediationTargetStatus,
  SkipReason,
  WorkflowExecutionStatus,
} from "../resources/index.ts";
import type { CancelReason, ObservedRun } from "./snapshot.ts";

/** One write, harmless to repeat and conditional on what was seen. Whoever loses a race looks again and decides anew. */
export type Action =
  /** Sets the labels by which the execution is found, and the finalizer that keeps it until its run is gone. */
  | { readonly do: "mark" }
  | { readonly do: "unmark" }
  | { readonly do: "set-status"; readonly status: WorkflowExecutionStatus; readonly decision?: Blocked }
  /** Copies the run's own words, if this is how the run is now: an old view of it would undo what others wrote. */
  | { readonly do: "mirror-run"; readonly run: ObservedRun; readonly status: WorkflowExecutionStatus }
  /** Makes the target's record from what the executions and runs of the target say. */
  | { readonly do: "create-record" }
  | { readonly do: "write-record"; readonly status: RemediationTargetStatus }
  | { readonly do: "create-run" }
  /** Execution and record are read once more before. */
  | { readonly do: "start-run"; readonly run: ObservedRun }
  | { readonly do: "cancel-run"; readonly run: ObservedRun; readonly because: CancelReason }
  | { readonly do: "delete-run"; readonly run: ObservedRun }
  /** Exactly as it was seen: its finalizer keeps it until its end is recorded. */
  | { readonly do: "delete-execution" }
  /** Puts an event into the ledger; nothing after it happens if that fails. */
  | { readonly do: "record"; readonly event: LedgerEvent }
  /** The target is free by now: the moment of telling is never before that. */
  | { readonly do: "record-freed" }
  | { readonly do: "notify"; readonly notice: NotificationRequest }
  /** Tells people and metrics. Never stands in the way. */
  | { readonly do: "announce"; readonly what: Announcement };

export const act = decision<Action>;

/** Something that people should be able to see: in the log, as a Kubernetes Event, in a notice, in a metric. */
export type Announcement =
  | { readonly kind: "pending" }
  | { readonly kind: "admitted" }
  | { readonly kind: "skipped"; readonly reason: SkipReason; readonly message: string }
  | { readonly kind: "run-created"; readonly runName: string }
  | { readonly kind: "started" }
  | { readonly kind: "completed"; readonly durationMs: number }
  | { readonly kind: "failed"; readonly details: FailureDetails; readonly durationMs: number | undefined }
  | { readonly kind: "freed" }
  | { readonly kind: "run-removed"; readonly runName: string }
  | { readonly kind: "acknowledged"; readonly by: string; readonly reason: string }
  | { readonly kind: "blocked-by-run"; readonly why: string }
  | { readonly kind: "cleanup-failed"; readonly why: string };
