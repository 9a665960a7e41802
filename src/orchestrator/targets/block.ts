import { type Decision, iso, nothing, requeueAt } from "../../kube/index.ts";
import { type Blocked, findEnd, isCovered } from "../../policy/index.ts";
import {
  annotationKeys,
  ineffectiveExecutions,
  type RemediationRequest,
  type RemediationTarget,
  readAckRequest,
} from "../../resources/index.ts";
import { type Action, act } from "../action.ts";
import * as events from "../reports/ledger-events.ts";
import { incidentBlocked, reviewNeeded } from "../reports/notices.ts";
import { blockedStatus } from "../statuses.ts";
import type { TargetView } from "./target-view.ts";

/** Blocks an incident, and reports it once: in the ledger, in the status and by a notice. */
export function block(incident: RemediationRequest, decision: Blocked, view: TargetView): Decision<Action> {
  const { nowMs, record } = view;
  const { reason, cause, message, nextStep, clearsAtMs, holder, requiresManualReview: review, earlier } = decision;
  const ack = review ? readAckRequest(incident) : undefined;
  if (ack && record && earlier && !isOtherAckPending(record, earlier.executionUid)) {
    return act(
      { do: "acknowledge", record, executionUid: earlier.executionUid },
      { do: "announce", announcement: { kind: "acknowledged", by: ack.by } },
    );
  }
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

/**
 * Whether the record has an acknowledgement of another execution that no executor has folded yet. The record has room for one
 * acknowledgement: a second one would replace it. The fold changes the record, which is an event.
 */
function isOtherAckPending(record: RemediationTarget, executionUid: string): boolean {
  const pendingUid = record.metadata.annotations?.[annotationKeys.acknowledgedExecution];
  if (pendingUid === undefined || pendingUid === executionUid || !readAckRequest(record)) return false;
  const found = findEnd(record.status, (end) => end.executionUid === pendingUid);
  return found !== undefined && !isCovered(found.history.ack, found.end);
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
function isStillBlocked({ status }: RemediationRequest, decision: Blocked): boolean {
  if (status?.phase !== "Blocked") return false;
  const { reason, cause, until, holder, message } = status.block;
  const untilMs = until === undefined ? undefined : Date.parse(until);
  return (
    reason === decision.reason &&
    cause === decision.cause &&
    sameTime(untilMs, decision.clearsAtMs) &&
    holder?.executionUid === decision.holder?.executionUid &&
    // Only the command, which names the object to act on: versions that run side by side during an upgrade differ in their texts.
    message.endsWith(findCommand(decision.nextStep)) &&
    // The problem can change while the reason does not. This message contains no time.
    (reason !== "NoMatchingRule" || message.startsWith(decision.message))
  );
}

/** The command at the end of a next step; empty if it has none. */
function findCommand(nextStep: string): string {
  return /\binterlock .*$/.exec(nextStep)?.[0] ?? "";
}

/** The executor rounds the times of a skip up to seconds. */
function sameTime(one: number | undefined, other: number | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && Math.abs(one - other) < 1_000);
}
