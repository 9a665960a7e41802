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
import type { CancelReason, ObservedRun, Snapshot } from "./snapshot.ts";

/** One write that is safe to repeat and conditional on the snapshot. After a lost race the decision is repeated. */
export type Action =
  /** Sets the labels by which the execution is found, and the finalizer that keeps it until its run is deleted. */
  | { readonly do: "mark" }
  | { readonly do: "unmark" }
  /** Compares the cached record, or the cached catalog entry, with the server's. If it has changed, everything is observed again. */
  | { readonly do: "confirm"; readonly what: keyof Snapshot["unconfirmed"] }
  /** Reads everything again, from the server. */
  | { readonly do: "observe-again" }
  | { readonly do: "set-status"; readonly status: WorkflowExecutionStatus; readonly decision?: Blocked }
  /** Copies the state of the run if it is current: an outdated one would undo the write of another replica. */
  | { readonly do: "mirror-run"; readonly run: ObservedRun; readonly status: WorkflowExecutionStatus }
  /** Builds the target's record from its executions and runs. */
  | { readonly do: "create-record" }
  | { readonly do: "write-record"; readonly status: RemediationTargetStatus }
  | { readonly do: "create-run" }
  /** Starts the run after execution and record were read once more. */
  | { readonly do: "start-run"; readonly run: ObservedRun }
  | { readonly do: "cancel-run"; readonly run: ObservedRun; readonly because: CancelReason }
  | { readonly do: "delete-run"; readonly run: ObservedRun }
  /** Deletes exactly the observed version: its finalizer keeps it until its end is recorded. */
  | { readonly do: "delete-execution" }
  /** Appends an event to the ledger. If that fails, the following actions are not performed. */
  | { readonly do: "record"; readonly event: LedgerEvent }
  /** Records the end of an execution that held its target, and that the target is free. Performed after the write that freed it. */
  | { readonly do: "record-freed"; readonly ended: LedgerEvent | undefined }
  | { readonly do: "notify"; readonly notice: NotificationRequest }
  /** Updates log, Events and metrics. Never fails. */
  | { readonly do: "announce"; readonly what: Announcement };

export const act = decision<Action>;

/** Confirms the catalog entry unless that was done before: one that was just removed or replaced must not run. */
export function confirmEntry({ unconfirmed }: Snapshot): readonly Action[] {
  return unconfirmed.entry ? [{ do: "confirm", what: "entry" }] : [];
}

/** An event that is visible in the log, in metrics, and as a Kubernetes Event. */
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
