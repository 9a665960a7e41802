import type {
  BlockReason,
  ExecutionEnd,
  RecentCause,
  RecordHolder,
  TargetHolder,
  WorkflowHistory,
} from "../resources/index.ts";
import { blockReasons } from "../resources/index.ts";
import { formatDuration } from "../time/index.ts";
import { findHistory, isCovered } from "./fold.ts";
import { pausedBy } from "./pauses.ts";
import type { ActionRequest, AskingIncident, Situation } from "./request.ts";

/** One check of the policy with its result. */
export type Check = CheckQuestion & ({ readonly answer: "passes"; readonly evidence: string } | Block);

interface CheckQuestion {
  /** The position of the check: the first that blocks sets the reason. */
  readonly number: number;
  /** The condition under which a workflow may act. */
  readonly asks: string;
}

interface Block {
  readonly answer: "blocks";
  readonly reason: BlockReason;
  readonly cause?: RecentCause;
  /** The evidence, in one sentence without its full stop. */
  readonly evidence: string;
  /** When the block clears, as the text after "clears". */
  readonly clears: string;
  readonly clearsAtMs?: number;
  /** What an operator can do. */
  readonly nextStep: string;
  readonly requiresManualReview: boolean;
  readonly holder?: TargetHolder;
  readonly earlier?: ExecutionEnd;
}

type CheckResult = { readonly answer: "passes"; readonly evidence: string } | Block;

/** Evaluates every check, in order. */
export function evaluateChecks(request: ActionRequest, situation: Situation): readonly Check[] {
  return checks.map(([asks, check], number) => ({ number, asks, ...check(request, situation) }));
}

const checks: readonly (readonly [string, (request: ActionRequest, situation: Situation) => CheckResult])[] = [
  ["a workflow is found", workflowExists],
  ["automation is not paused", notPaused],
  ["no other execution holds the target", targetIsFree],
  ["no unacknowledged failure while acting", noUnreviewedFailure],
  ["not too many failures before acting", retriesLeft],
  ["not in backoff after failures before acting", backoffIsOver],
  ["not in cooldown after a success", cooldownIsOver],
  ["earlier successes lasted", fixHolds],
  ["no incident of a cause is open", causesAreClosed],
];

function workflowExists({ workflowId, rulesTried }: ActionRequest, { workflow }: Situation): CheckResult {
  if (workflow?.outsideCatalog) return passes(`workflow ${workflowId} is not in the catalog, which is allowed here`);
  if (workflow?.difference) {
    return blocks("NoMatchingRule", {
      evidence: workflow.difference,
      nextStep: "create an execution that repeats the catalog entry, or add a version to the catalog",
    });
  }
  if (workflow?.problems) {
    return blocks("NoMatchingRule", {
      evidence: `the rule cannot be carried out: ${workflow.problems.join("; ")}`,
      nextStep: "correct the rule or the workflow, and try it: interlock policy test",
    });
  }
  if (workflow && !rulesTried) return passes(`workflow ${workflowId} is in the catalog`);
  return blocks("NoMatchingRule", {
    evidence: rulesTried
      ? `no rule matches; tried ${rulesTried.length === 0 ? "none, as there are none" : rulesTried.join(", ")}`
      : `workflow ${workflowId} is not in the catalog`,
    nextStep: rulesTried ? "add a rule that matches" : `add workflow ${workflowId} to the catalog, or name another one`,
  });
}

function notPaused(request: ActionRequest, { pauses, nowMs }: Situation): CheckResult {
  const paused = pausedBy(request, pauses, nowMs);
  if (!paused) return passes("no pause applies");
  const { pauses: _, ...found } = paused;
  return blocks("Paused", found);
}

function targetIsFree({ target, executionUid }: ActionRequest, { record }: Situation): CheckResult {
  const holder = record?.holder && toTargetHolder(record.holder);
  if (!holder) return passes(`no execution holds ${target}`);
  if (holder.executionUid === executionUid) return passes(`this execution has held ${target} since ${holder.since}`);
  return blocks("ResourceBusy", {
    evidence: `${target} is held by execution ${holder.executionName} (workflow ${holder.workflowId}) since ${holder.since}`,
    nextStep: `wait for it, or read its output: interlock logs ${holder.executionName}`,
    holder,
  });
}

/** Removes why the holder was admitted: a decision names only the holder. */
function toTargetHolder({ catalogEntryUid: _entry, approval: _approval, ...holder }: RecordHolder): TargetHolder {
  return holder;
}

function noUnreviewedFailure({ target, workflowId }: ActionRequest, { record }: Situation): CheckResult {
  const history = findHistory(record, workflowId);
  const failure = history?.lastExecutionFailure;
  if (!failure) return passes(`${workflowId} has not failed while acting on ${target}`);
  if (history.ack && isCovered(history.ack, failure)) {
    return passes(
      `its failure in ${failure.executionName} was acknowledged by ${history.ack.by}: ${history.ack.reason}`,
    );
  }
  return blocks("PreviousExecutionFailed", {
    evidence: `execution ${failure.executionName} failed (${failure.reason ?? "Unknown"}) at ${failure.completedAt} while acting: its effects are unknown`,
    nextStep: `check the effects of ${failure.executionName}, then: interlock ack ${failure.executionName} --reason "…"`,
    requiresManualReview: true,
    earlier: failure,
  });
}

function retriesLeft({ workflowId }: ActionRequest, { record, settings }: Situation): CheckResult {
  const history = findHistory(record, workflowId);
  const count = history?.consecutiveFailures ?? 0;
  if (count < settings.maxConsecutiveFailures) {
    return passes(`${count} of ${settings.maxConsecutiveFailures} failures in a row before acting`);
  }
  const earlier = history?.lastFailure;
  return blocks("ExhaustedRetries", {
    evidence: `${failures(count)} in a row before acting, the last with ${earlier?.reason ?? "Unknown"} in ${earlier?.executionName ?? "an earlier execution"}`,
    nextStep: `fix the cause, then: interlock ack ${earlier?.executionName ?? "EXECUTION"} --reason "…"`,
    requiresManualReview: true,
    ...(earlier ? { earlier } : {}),
  });
}

function failures(count: number): string {
  return count === 1 ? "1 failure" : `${count} failures`;
}

function backoffIsOver({ workflowId }: ActionRequest, { record, nowMs }: Situation): CheckResult {
  const history = findHistory(record, workflowId);
  if (!history?.nextAllowed) return passes("no failure before acting");
  const untilMs = Date.parse(history.nextAllowed);
  if (nowMs >= untilMs)
    return passes(`the backoff after ${failures(history.consecutiveFailures)} ended at ${history.nextAllowed}`);

  const earlier = history.lastFailure;
  return blocks("RecentlyRemediated", {
    cause: "backoff",
    evidence: `${failures(history.consecutiveFailures)} in a row before acting; ${formatRemaining(untilMs - nowMs)} of the backoff left`,
    nextStep: "wait; the decision is repeated then",
    ...at(untilMs),
    ...(earlier ? { earlier } : {}),
  });
}

function cooldownIsOver({ workflowId }: ActionRequest, { record, workflow, settings, nowMs }: Situation): CheckResult {
  const success = findHistory(record, workflowId)?.lastSuccess;
  if (!success) return passes(`${workflowId} has not succeeded here before`);
  if (success.cooldownEnded) return passes(`execution ${success.executionName} was deleted, which ended its cooldown`);
  const untilMs = Date.parse(success.completedAt) + (workflow?.cooldownMs ?? settings.cooldownMs);
  if (nowMs >= untilMs) return passes(`the cooldown after ${success.executionName} ended at ${time(untilMs)}`);

  return blocks("RecentlyRemediated", {
    cause: "cooldown",
    evidence: `${success.executionName} completed ${workflowId} at ${success.completedAt}; ${formatRemaining(untilMs - nowMs)} of the cooldown left`,
    nextStep: "wait, or run a different workflow",
    ...at(untilMs),
    earlier: success,
  });
}

function fixHolds(
  { target, workflowId, incident }: ActionRequest,
  { record, settings, nowMs }: Situation,
): CheckResult {
  if (!incident) return passes("not applicable: no incident requested it");
  const history = findHistory(record, workflowId);
  if (history?.ineffective) {
    const { latestSuccess, foundAt } = history.ineffective;
    const found = `${workflowId} succeeded on ${target}, and the problem came back each time, most recently after ${latestSuccess.executionName}`;
    return ineffective(`${found}; detected at ${foundAt}`, latestSuccess);
  }
  const { times, withinMs } = settings.ineffective;
  const within = formatDuration(withinMs);
  const successes = successesForIncidents(history);
  const [latest] = successes;
  const fixes = withoutLasting(successes, incident).filter((end) => Date.parse(end.completedAt) > nowMs - withinMs);
  const count = `${fixes.length} ${fixes.length === 1 ? "success" : "successes"}`;
  if (latest && fixes.length >= times) {
    const found = `${workflowId} succeeded ${fixes.length} times on ${target} within ${within}`;
    return ineffective(`${found}, and the problem came back each time`, latest);
  }
  // The record was deleted and rebuilt: the result is still in the status of the incident.
  if (latest && incident.wasIneffective) {
    const found = `${workflowId} was already found to succeed on ${target} without lasting`;
    return ineffective(`${found}, most recently in ${latest.executionName}`, latest);
  }
  return passes(`${count} without lasting within ${within}; the limit is ${times}`);
}

function causesAreClosed({ incident }: ActionRequest): CheckResult {
  const [first, ...others] = incident?.causes ?? [];
  if (!first) return passes("no cause is open");
  const more = others.length === 0 ? "" : `, and so are ${others.length} more`;
  return blocks("CauseOpen", {
    evidence: `incident ${first.incident} of rule ${first.rule} on ${first.within} is open${more}`,
    nextStep: `wait for it, or see why it is open: interlock why ${first.incident}`,
  });
}

/** Returns the successes for incidents since the latest acknowledgement, the latest first. */
function successesForIncidents(history: WorkflowHistory | undefined): readonly ExecutionEnd[] {
  return (history?.recentEnds ?? []).filter(
    (end) => end.outcome === "Success" && end.signalFingerprint !== undefined && !isCovered(history?.ack, end),
  );
}

/**
 * Returns the successes after which an incident was opened, or reported again, before the next success. An incident that was open
 * before a success and waited for the target is no evidence that the success did not last.
 */
function withoutLasting(latestFirst: readonly ExecutionEnd[], { sinceMs }: AskingIncident): readonly ExecutionEnd[] {
  return latestFirst.filter(({ completedAt }, i) => {
    const next = latestFirst[i - 1];
    const nextSinceMs = next ? Date.parse(next.incidentSince ?? next.completedAt) : sinceMs;
    return nextSinceMs > Date.parse(completedAt);
  });
}

function ineffective(evidence: string, earlier: ExecutionEnd): Block {
  return blocks("Ineffective", {
    evidence,
    nextStep: `find the cause behind it, then: interlock ack ${earlier.executionName} --reason "…"`,
    requiresManualReview: true,
    earlier,
  });
}

function passes(evidence: string): CheckResult {
  return { answer: "passes", evidence };
}

type BlockDetails = Pick<Block, "evidence" | "nextStep"> & Partial<Omit<Block, "answer" | "reason">>;

function blocks(reason: BlockReason, found: BlockDetails): Block {
  return { answer: "blocks", reason, requiresManualReview: false, clears: blockReasons[reason].clears, ...found };
}

function at(clearsAtMs: number): Pick<Block, "clears" | "clearsAtMs"> {
  return { clears: `at ${time(clearsAtMs)}`, clearsAtMs };
}

/** Formats a remaining time in whole seconds. Rounded up, so that a caller that waits this time waits long enough. */
export function formatRemaining(ms: number): string {
  return formatDuration(Math.ceil(ms / 1_000) * 1_000);
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
