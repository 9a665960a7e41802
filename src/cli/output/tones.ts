import type { Tone } from "./terminal.ts";

/** The tone of a phase, decision, outcome or status of our kinds. */
const tones: Readonly<Record<string, Tone>> = {
  Active: "good",
  Approved: "good",
  Completed: "good",
  Remediated: "good",
  ResolvedDuringRun: "good",
  Sent: "good",
  ApprovalExpired: "bad",
  ApprovalRejected: "bad",
  ExecutionFailed: "bad",
  Expired: "bad",
  Failed: "bad",
  Invalid: "bad",
  Rejected: "bad",
  TimedOut: "bad",
  AwaitingApproval: "warning",
  Blocked: "warning",
  PartiallySent: "warning",
  Retrying: "warning",
  Skipped: "warning",
  Analyzing: "active",
  Executing: "active",
  Running: "active",
  Sending: "active",
  Verifying: "active",
};

/** Columns whose every cell names a problem, and those whose cells are looked up. */
const problemColumns = ["Stalled", "Failure"];
const stateColumns = ["Phase", "Decision", "Outcome", "Status"];

/** The tone of a cell; undefined for text like any other. */
export function cellTone(column: string, text: string): Tone | undefined {
  if (text === "") return undefined;
  if (problemColumns.includes(column)) return "bad";
  return stateColumns.includes(column) ? tones[text] : undefined;
}
