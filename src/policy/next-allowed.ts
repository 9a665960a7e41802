import type { ExecutionEnd } from "../resources/index.ts";
import { backoffMs } from "../time/index.ts";
import type { FailureBackoff } from "./settings.ts";

/** When a workflow may be tried again after its `count`-th failure in a row before acting. */
export function nextAllowedAfter(
  { completedAt, executionUid }: ExecutionEnd,
  count: number,
  { baseMs, maxMs, maxExponent, jitter }: FailureBackoff,
): string {
  const attempt = Math.min(count, maxExponent + 1);
  const delayMs = backoffMs(attempt, { baseMs, maxMs, jitter }, chanceOf(executionUid));
  return new Date(Date.parse(completedAt) + Math.round(delayMs)).toISOString();
}

/** A number in [0, 1) that every replica draws alike: each one that folds the failure has to compute the same time. */
function chanceOf(uid: string): number {
  let hash = 2_166_136_261;
  for (let i = 0; i < uid.length; i++) hash = Math.imul(hash ^ uid.charCodeAt(i), 16_777_619);
  return (hash >>> 0) / 2 ** 32;
}
