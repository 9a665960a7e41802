import { type Decision, iso, nothing, requeueAt } from "../../kube/index.ts";
import type { Blocked } from "../../policy/index.ts";
import { ineffectiveExecutions, type RemediationRequest } from "../../resources/index.ts";
import { type Action, act } from "../action.ts";
import * as events from "../reports/ledger-events.ts";
import { incidentBlocked, reviewNeeded } from "../reports/notices.ts";
import { blockedStatus } from "../statuses.ts";
import type { TargetView } from "./target-view.ts";

/** Blocks an incident, and reports it once: in the ledger, in the status and by a notice. */
export function block(incident: RemediationRequest, decision: Blocked, view: TargetView): Decision<Action> {
  const { nowMs, record } = view;
  const { reason, cause, message, nextStep, clearsAtMs, holder, requiresManualReview: review, earlier } = decision;
  // Written before the incident shows it: from then on it lasts until it is acknowledged, even without the incident.
  const ineffectiveUid = unmarkedIneffective(decision, view);
  if (ineffectiveUid !== undefined && record) {
    return act({ do: "mark-ineffective", record, executionUid: ineffectiveUid });
  }
  if (isStillBlocked(incident, decision)) return clearsAtMs === undefined ? nothing : requeueAt(clearsAtMs, nowMs);

  const event = events.decidedEvent(incident, { verdict: "block", decision, nowMs });
  const next = {
    reason,
    ...(cause === undefined ? {} : { cause }),
    message: `${message}. Next: ${nextStep}`,
    ...(clearsAtMs === undefined ? {} : { until: iso(clearsAtMs) }),
    ...(holder === undefined ? {} : { holder }),
    decision: event.id,
  };
  const notice = review
    ? reviewNeeded(incident, { reason, message: next.message, nextStep, earlierUid: earlier?.executionUid })
    : incidentBlocked(incident, decision);
  return act(
    { do: "record", event },
    { do: "notify", notice },
    { do: "set-status", status: blockedStatus(incident, next, { review, nowMs }) },
    { do: "announce", announcement: { kind: "decided", verdict: "block", reason, message } },
  );
}

/** Returns the latest success of an ineffective workflow that the record does not show yet, even if another check blocks. */
function unmarkedIneffective({ checks }: Blocked, { record }: TargetView): string | undefined {
  for (const check of checks) {
    if (check.answer !== "blocks" || check.reason !== "Ineffective" || !check.earlier) continue;
    const { executionUid } = check.earlier;
    const isFolded = record?.status?.workflows?.some(
      ({ ineffective }) => ineffective?.latestSuccess.executionUid === executionUid,
    );
    return isFolded || ineffectiveExecutions(record).includes(executionUid) ? undefined : executionUid;
  }
  return undefined;
}

/** Whether the block has the same reason and the same end. The remaining time changes always, and is ignored. */
function isStillBlocked(incident: RemediationRequest, decision: Blocked): boolean {
  const { status } = incident;
  if (status?.phase !== "Blocked" || !showsBlock(incident, decision)) return false;
  const { reason, cause, until, holder, message } = status.block;
  const untilMs = until === undefined ? undefined : Date.parse(until);
  return (
    cause === decision.cause &&
    sameTime(untilMs, decision.clearsAtMs) &&
    holder?.executionUid === decision.holder?.executionUid &&
    // The problem can change while the reason does not. This message contains no time.
    (reason !== "NoMatchingRule" || message.startsWith(decision.message))
  );
}

/**
 * Whether the incident shows a block with this reason and next step. Of the next step only the command is compared, which names the
 * object to act on: versions that run side by side during an upgrade differ in their texts.
 */
export function showsBlock(
  { status }: RemediationRequest,
  { reason, nextStep }: Pick<Blocked, "reason" | "nextStep">,
): boolean {
  if (status?.phase !== "Blocked" || status.block.reason !== reason) return false;
  return status.block.message.endsWith(findCommand(nextStep));
}

/** The command at the end of a next step; empty if it has none. */
function findCommand(nextStep: string): string {
  return /\binterlock .*$/.exec(nextStep)?.[0] ?? "";
}

/** The executor rounds the times of a skip up to seconds. */
function sameTime(one: number | undefined, other: number | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && Math.abs(one - other) < 1_000);
}
