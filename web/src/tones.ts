/** The colours of states. A text always names the state, too. */
export type Tone = "good" | "bad" | "wait" | "active" | "neutral";

const phaseTones: Readonly<Record<string, Tone>> = {
  Pending: "neutral",
  Analyzing: "active",
  AwaitingApproval: "wait",
  Executing: "active",
  Verifying: "active",
  Running: "active",
  Sending: "active",
  Working: "active",
  Blocked: "wait",
  Waiting: "wait",
  Completed: "good",
  Succeeded: "good",
  Sent: "good",
  Delivered: "good",
  Approved: "good",
  Failed: "bad",
  Rejected: "bad",
  Expired: "bad",
  Skipped: "neutral",
  Withdrawn: "neutral",
  Cancelled: "neutral",
};

/** The tone of a phase of any kind. A phase that is not in the list is neutral. */
export function phaseTone(phase: string): Tone {
  return phaseTones[phase] ?? "neutral";
}

const severityTones: Readonly<Record<string, Tone>> = {
  critical: "bad",
  error: "bad",
  high: "bad",
  warning: "wait",
  medium: "wait",
};

export function severityTone(severity: string): Tone {
  return severityTones[severity.toLowerCase()] ?? "neutral";
}
