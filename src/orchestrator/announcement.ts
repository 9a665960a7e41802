import type { BlockReason } from "../resources/index.ts";

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
