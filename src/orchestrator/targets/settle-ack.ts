import { type Decision, lostEventMs, requeueAfter } from "../../kube/index.ts";
import { findEnd, isCovered } from "../../policy/index.ts";
import {
  annotationKeys,
  type RemediationRequest,
  type RemediationTarget,
  readAckRequest,
} from "../../resources/index.ts";
import { type Action, act } from "../action.ts";
import { showsBlock } from "./block.ts";
import { decideAction } from "./decide-action.ts";
import type { TargetView } from "./target-view.ts";

/**
 * Handles an operator's acknowledgement on an incident, before its status changes. It answers the block that the incident shows:
 * if that still needs a review, even behind another check, the acknowledgement moves to the record. Otherwise it is dropped: kept, it
 * would later acknowledge a failure that the operator has not seen. Returns undefined if there is nothing to handle.
 */
export function settleAck(incident: RemediationRequest, view: TargetView): Decision<Action> | undefined {
  const ack = readAckRequest(incident);
  const { record } = view;
  // Without a record it is unknown what needs a review: the executor rebuilds it.
  if (!ack || !record) return undefined;
  const executionUid = findReviewed(incident, view);
  if (executionUid === undefined) {
    const dropped = { kind: "acknowledgement-dropped", by: ack.by } as const;
    return record.status && act({ do: "drop-ack" }, { do: "announce", announcement: dropped });
  }
  if (isAckPending(record)) return requeueAfter(lostEventMs);
  return act(
    { do: "acknowledge", record, executionUid },
    { do: "announce", announcement: { kind: "acknowledged", by: ack.by } },
  );
}

/** Returns the execution whose review the incident shows as its block, and which still needs that review. */
function findReviewed(incident: RemediationRequest, view: TargetView): string | undefined {
  for (const check of decideAction(incident, view).checks) {
    if (check.answer !== "blocks" || !check.requiresManualReview || !check.earlier) continue;
    if (showsBlock(incident, check)) return check.earlier.executionUid;
  }
  return undefined;
}

/**
 * Whether the record has an acknowledgement that no executor has folded yet. The record has room for one: a second one would replace
 * it. The fold changes the record, which is an event.
 */
function isAckPending(record: RemediationTarget): boolean {
  const pendingUid = record.metadata.annotations?.[annotationKeys.acknowledgedExecution];
  if (pendingUid === undefined || !readAckRequest(record)) return false;
  const found = findEnd(record.status, (end) => end.executionUid === pendingUid);
  return found !== undefined && !isCovered(found.history.ack, found.end);
}
