import type { ExecutionEnd, WorkflowHistory } from "../../src/resources/index.ts";

/** An end that the record knew once. */
export interface KnownEnd extends ExecutionEnd {
  readonly workflowId: string;
  /** Since then the record was deleted. */
  recordDeletedSince: boolean;
}

export interface PolicyRules {
  readonly cooldownMs: number;
  readonly backoffMs: number;
  readonly longestBackoffMs: number;
  readonly maxFailures: number;
  /** How far a replica's idea of the server's clock may be ahead. */
  readonly clockErrorMs: number;
}

/** What the policy goes by, for one workflow on one target. */
export interface Figures {
  readonly consecutiveFailures: number;
  readonly nextAllowed: string | undefined;
  /** Uids of executions. */
  readonly lastSuccess: string | undefined;
  readonly lastFailure: string | undefined;
  readonly lastExecutionFailure: string | undefined;
}

/** The reason not to act now, by the ends of one workflow on one target: a second, simpler form of the rules. */
export function whyNotAllowed(
  ends: readonly KnownEnd[],
  acknowledgedUntil: number,
  nowMs: number,
  rules: PolicyRules,
): string | undefined {
  const late = nowMs + rules.clockErrorMs;
  const unreviewed = ends.find((end) => end.wasExecutionFailure && at(end) > acknowledgedUntil);
  if (unreviewed) return `${unreviewed.executionName} failed while acting, and is not acknowledged`;
  const cooldownEnd = lastSuccessAt(ends.filter(({ cooldownEnded }) => !cooldownEnded)) + rules.cooldownMs;
  if (late < cooldownEnd) return `the cooldown lasts ${cooldownEnd - nowMs} ms more`;

  const early = failuresBeforeActing(ends, acknowledgedUntil);
  if (early.length >= rules.maxFailures) return `it failed ${early.length} times before acting`;
  const nextAllowed = nextAllowedAfter(early, rules);
  if (nextAllowed !== undefined && late < nextAllowed) return `the backoff lasts ${nextAllowed - nowMs} ms more`;
  return undefined;
}

/** What a record has to say about these ends of one workflow on its target. */
export function figuresOf(ends: readonly ExecutionEnd[], acknowledgedUntil: number, rules: PolicyRules): Figures {
  const early = failuresBeforeActing(ends, acknowledgedUntil);
  const nextAllowed = nextAllowedAfter(early, rules);
  return {
    consecutiveFailures: early.length,
    nextAllowed: nextAllowed === undefined ? undefined : new Date(nextAllowed).toISOString(),
    lastSuccess: newest(ends.filter(({ outcome }) => outcome === "Success")),
    lastFailure: newest(ends.filter(({ outcome }) => outcome === "Failed")),
    lastExecutionFailure: newest(ends.filter(({ wasExecutionFailure }) => wasExecutionFailure)),
  };
}

/** Until when everything is acknowledged, according to a record. */
export function acknowledgedUntil({ ack }: { readonly ack?: WorkflowHistory["ack"] | undefined }): number {
  return ack ? Date.parse(ack.coversUntil) : Number.NEGATIVE_INFINITY;
}

function failuresBeforeActing<End extends ExecutionEnd>(ends: readonly End[], acknowledgedUntil: number): End[] {
  const since = Math.max(lastSuccessAt(ends), acknowledgedUntil);
  return ends.filter((end) => end.outcome === "Failed" && !end.wasExecutionFailure && at(end) > since);
}

function nextAllowedAfter(failures: readonly ExecutionEnd[], rules: PolicyRules): number | undefined {
  if (failures.length === 0) return undefined;
  const waitMs = Math.min(rules.longestBackoffMs, rules.backoffMs * 2 ** (failures.length - 1));
  return Math.max(...failures.map(at)) + waitMs;
}

function lastSuccessAt(ends: readonly ExecutionEnd[]): number {
  return Math.max(...ends.filter(({ outcome }) => outcome === "Success").map(at));
}

/** Of those that ended in the same millisecond, the one with the greater uid. */
function newest(ends: readonly ExecutionEnd[]): string | undefined {
  const last = Math.max(...ends.map(at));
  const uids = ends.filter((end) => at(end) === last).map(({ executionUid }) => executionUid);
  return uids.sort().at(-1);
}

function at({ completedAt }: ExecutionEnd): number {
  return Date.parse(completedAt);
}
