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

/** One write, harmless to repeat and conditional on what was seen. Whoever loses a race looks again and decides anew. */
export type Action =
  /** At the very version of the incident that was read: what others wrote meanwhile is never undone. */
  | { readonly do: "set-status"; readonly status: RemediationRequestStatus }
  /** Its name is taken by us already after a crash: then it is found, by the uid of its owner. */
  | { readonly do: "create-execution"; readonly execution: WorkflowExecution }
  /** Cancels its run: the executor stops that, frees the target, and lets the execution go. */
  | { readonly do: "delete-execution"; readonly execution: WorkflowExecution }
  /** Passes an operator's request on: the executor stops the run, and frees the target. */
  | { readonly do: "cancel-execution"; readonly execution: WorkflowExecution; readonly request: CancelRequest }
  | { readonly do: "create-approval"; readonly approval: RemediationApprovalRequest }
  /** The question has become pointless, or nobody answered in time. */
  | { readonly do: "expire-approval"; readonly approval: RemediationApprovalRequest }
  /** Hands a person's word on to the target's record, where it counts, and takes it off the incident. */
  | { readonly do: "acknowledge"; readonly record: RemediationTarget; readonly executionUid: string }
  /** Marks the record: the successes up to this execution did not last. The executor writes that into its status. */
  | { readonly do: "mark-ineffective"; readonly record: RemediationTarget; readonly executionUid: string }
  /** Puts an event into the ledger; nothing after it happens if that fails. */
  | { readonly do: "record"; readonly event: LedgerEvent }
  | { readonly do: "notify"; readonly notice: NotificationRequest }
  /** A later incident of its fingerprint is there: gateways that look for the newest need not read this one any more. */
  | { readonly do: "mark-superseded" }
  | { readonly do: "delete-incident" }
  /** Removes the texts of its signal, and marks it as a tombstone. */
  | { readonly do: "strip-incident" }
  /** Tells people and metrics. Never stands in the way. */
  | { readonly do: "announce"; readonly what: Announcement };

export const act = decision<Action>;

export const verdicts = ["run", "follow", "block", "ask", "observe"] as const;
/** What a decision about an incident says: run it, share a run, wait, ask a person, or only watch. */
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

/** Something that people should be able to see: in the log and in a metric. */
export type Announcement =
  | { readonly kind: "diagnosed"; readonly rule: string }
  | { readonly kind: "decided"; readonly verdict: Verdict; readonly reason?: BlockReason; readonly message: string }
  | { readonly kind: "again"; readonly because: string }
  | { readonly kind: "recurred" }
  | { readonly kind: "verifying" }
  | { readonly kind: "acknowledged"; readonly by: string }
  | { readonly kind: "closed"; readonly outcome: IncidentOutcome; readonly message: string }
  | { readonly kind: "deleted" };
