import type { WorkflowHistory } from "../resources/index.ts";
import { isCovered } from "./fold.ts";
import type { PolicySettings } from "./settings.ts";

/**
 * Until when a check can answer otherwise because of what a workflow did to a target: its cooldown, its backoff, and the
 * time in which successes that do not last are counted. Infinite while a person has to acknowledge something.
 */
export function neededUntilMs(
  history: WorkflowHistory,
  { cooldownMs, settings }: { readonly cooldownMs: number; readonly settings: PolicySettings },
): number {
  const { lastExecutionFailure, lastSuccess, ack, ineffective, consecutiveFailures, nextAllowed } = history;
  const isUnreviewed = lastExecutionFailure !== undefined && !isCovered(ack, lastExecutionFailure);
  const isExhausted = consecutiveFailures >= settings.maxConsecutiveFailures;
  if (isUnreviewed || isExhausted || ineffective) return Number.POSITIVE_INFINITY;
  const successes = lastSuccess ? [Date.parse(lastSuccess.completedAt)] : [];
  return Math.max(
    Number.NEGATIVE_INFINITY,
    ...(nextAllowed === undefined ? [] : [Date.parse(nextAllowed)]),
    ...successes.map((completedMs) => completedMs + Math.max(cooldownMs, settings.ineffective.withinMs)),
  );
}
