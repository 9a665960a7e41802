/**
 * Why nothing is done, in the order of the policy's checks. An incident with one of them is Blocked until it clears. An
 * execution is Skipped for those with `skips`.
 */
export const blockReasons = {
  NoMatchingRule: { skips: false, clears: "when the rules change, or the signal resolves" },
  Paused: { skips: true, clears: "when the last pause that covers it ends" },
  ResourceBusy: { skips: true, clears: "when the execution that holds the target has ended" },
  PreviousExecutionFailed: { skips: true, clears: "when an operator acknowledges the failure" },
  ExhaustedRetries: { skips: true, clears: "when an operator acknowledges the failures, or after a success" },
  RecentlyRemediated: { skips: true, clears: "at a known time" },
  Ineffective: { skips: false, clears: "when an operator acknowledges that the fix does not hold" },
  ObserveOnly: { skips: true, clears: "when it is no longer only observed" },
  CauseOpen: { skips: false, clears: "when the incidents of its cause are closed" },
} as const satisfies Record<string, { readonly skips: boolean; readonly clears: string }>;

export type BlockReason = keyof typeof blockReasons;

/** A reason for which an execution can be Skipped. The others concern incidents alone. */
export type SkipReason = {
  [R in BlockReason]: (typeof blockReasons)[R]["skips"] extends true ? R : never;
}[BlockReason];

/** The causes of `RecentlyRemediated`: failures before acting, or a success. */
export const recentCauses = ["backoff", "cooldown"] as const;
export type RecentCause = (typeof recentCauses)[number];

/** A reason for display. A wait after failures is a backoff: nothing was remediated. */
export function blockText(reason: string, cause?: string): string {
  return cause === "backoff" ? "Backoff" : reason;
}

export function skipText(details: { readonly reason: string; readonly cause?: string }): string {
  return blockText(details.reason, details.cause);
}

/** All reasons, in the order of the checks. */
export const blockReasonNames = Object.keys(blockReasons) as [BlockReason, ...BlockReason[]];
