import { decision } from "../kube/index.ts";
import type { LedgerEvent } from "../ledger/index.ts";
import type {
  BlockReason,
  CancelRequest,
  NotificationRequest,
  RemediationApprovalRequest,
  RemediationRequestStatus,
  RemediationTarget,
  WorkflowExecution,
} from "../resources/index.ts";

/** One write that is safe to repeat and conditional on the snapshot. After a lost race the decision is repeated. */
export type Action =
  /** Writes the status at the version that was read, so that no other write is undone. */
  | { readonly do: "set-status"; readonly status: RemediationRequestStatus }
  /** Creates the execution. After a crash it may exist already; the uid of its owner then identifies it. */
  | { readonly do: "create-execution"; readonly execution: WorkflowExecution }
  /** Deletes the execution: the executor stops its run, frees the target, and removes the finalizer. */
  | { readonly do: "delete-execution"; readonly execution: WorkflowExecution }
  /** Forwards an operator's request: the executor stops the run, and frees the target. */
  | { readonly do: "cancel-execution"; readonly execution: WorkflowExecution; readonly request: CancelRequest }
  | { readonly do: "create-approval"; readonly approval: RemediationApprovalRequest }
  /** Expires an approval that is no longer needed, or was not answered in time. */
  | { readonly do: "expire-approval"; readonly approval: RemediationApprovalRequest; readonly nowMs: number }
  /** Moves an operator's acknowledgement from the incident to the target's record, where it takes effect. */
  | { readonly do: "acknowledge"; readonly record: RemediationTarget; readonly executionUid: string }
  /** Removes an operator's acknowledgement from the incident: it has no effect any more. */
  | { readonly do: "drop-ack" }
  /** Marks the record: the successes up to this execution did not last. The executor writes that into its status. */
  | { readonly do: "mark-ineffective"; readonly record: RemediationTarget; readonly executionUid: string }
  /** Appends an event to the ledger. If that fails, the following actions are not performed. */
  | { readonly do: "record"; readonly event: LedgerEvent }
  | { readonly do: "notify"; readonly notice: NotificationRequest }
  /** Removes the label of the newest incident, because there is a later one: gateways no longer read this one. */
  | { readonly do: "mark-superseded" }
  | { readonly do: "delete-incident" }
  /** Removes the texts of its signal, and marks it as a tombstone. */
  | { readonly do: "strip-incident" }
  /** Updates log and metrics. Never fails. */
  | { readonly do: "announce"; readonly announcement: Announcement };

export const act = decision<Action>;

export const verdicts = ["run", "follow", "block", "ask", "observe"] as const;
/** The result of a decision about an incident: run, share a run, wait, request an approval, or only observe. */
export type Verdict = (typeof verdicts)[number];

export const outcomes = [
  "Remediated",
  "ResolvedDuringRun",
  "Inconclusive",
  "Observed",
  "ExecutionFailed",
  "ApprovalRejected",
  "ApprovalExpired",
  "TimedOut",
  "ResolvedBeforeStart",
  "ResolvedDuringApproval",
  "Stale",
  "Cancelled",
] as const;
export type IncidentOutcome = (typeof outcomes)[number];

/** An event that is visible in the log and in metrics. */
export type Announcement =
  | { readonly kind: "diagnosed"; readonly rule: string }
  | { readonly kind: "decided"; readonly verdict: Verdict; readonly reason?: BlockReason; readonly message: string }
  | { readonly kind: "started-over"; readonly because: string }
  | { readonly kind: "recurred" }
  | { readonly kind: "verifying" }
  | { readonly kind: "acknowledged"; readonly by: string }
  | { readonly kind: "acknowledgement-dropped"; readonly by: string }
  | { readonly kind: "closed"; readonly outcome: IncidentOutcome; readonly message: string }
  | { readonly kind: "deleted" };
