import type { ExecutionEnd } from "../../src/resources/index.ts";

/** An end that the record knew once. */
export interface KnownEnd extends ExecutionEnd {
  readonly workflowId: string;
  /** Since then somebody deleted the record. */
  recordDeletedSince: boolean;
}

export interface PolicyRules {
  readonly cooldownMs: number;
  readonly backoffMs: number;
  readonly longestBackoffMs: number;
  readonly mostFailures: number;
  /** How far a replica's idea of the server's clock may be ahead. */
  readonly clockErrorMs: number;
}

/** Why nobody may act now, by the ends of one workflow on one target: the rules once more, said in the plainest way. */
export function whyNotAllowed(
  ends: readonly KnownEnd[],
  acknowledgedUntil: number,
  nowMs: number,
  rules: PolicyRules,
): string | undefined {
  const late = nowMs + rules.clockErrorMs;
  const at = ({ completedAt }: KnownEnd) => Date.parse(completedAt);
  const successes = ends.filter(({ outcome }) => outcome === "Success").map(at);
  const lastSuccess = Math.max(...successes);
  const failures = ends.filter(({ outcome }) => outcome === "Failed");

  const unreviewed = failures.find((end) => end.wasExecutionFailure && at(end) > acknowledgedUntil);
  if (unreviewed) return `${unreviewed.executionName} failed while acting, and nobody acknowledged it`;
  if (late < lastSuccess + rules.cooldownMs)
    return `the cooldown lasts ${lastSuccess + rules.cooldownMs - nowMs} ms more`;

  const early = failures.filter(
    (end) => !end.wasExecutionFailure && at(end) > Math.max(lastSuccess, acknowledgedUntil),
  );
  if (early.length >= rules.mostFailures) return `it failed ${early.length} times before acting`;
  const waitMs = Math.min(rules.longestBackoffMs, rules.backoffMs * 2 ** (early.length - 1));
  const nextAllowed = Math.max(...early.map(at)) + waitMs;
  if (early.length > 0 && late < nextAllowed) return `the backoff lasts ${nextAllowed - nowMs} ms more`;
  return undefined;
}
