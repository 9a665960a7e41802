import { type Decision, requeueAt } from "../../kube/index.ts";
import type { RemediationApprovalRequest } from "../../resources/index.ts";
import { type Action, act } from "../action.ts";
import { close } from "../endings/ending.ts";
import * as events from "../reports/ledger-events.ts";
import { approvalExpired } from "../reports/notices.ts";
import type { Snapshot } from "../snapshot.ts";
import { diagnosedStatus, requireDiagnosis } from "../statuses.ts";

/** Decides the next step of an incident that waits for an approval. */
export function decideApproval(snapshot: Snapshot): Decision<Action> {
  const { incident, approval, nowMs } = snapshot;
  const { resolvedAt } = incident.status ?? {};
  if (resolvedAt !== undefined) {
    const message = `the sender resolved it at ${resolvedAt}, before it was approved`;
    return close(incident, { phase: "Withdrawn", outcome: "ResolvedDuringApproval", message }, nowMs);
  }
  // The approval was deleted: it is requested again if it is still needed.
  if (!approval) return act({ do: "set-status", status: diagnosedStatus(incident, requireDiagnosis(incident), nowMs) });
  if (approval.status) return decideAnswered(snapshot, approval, approval.status);
  const requiredByMs = Date.parse(approval.spec.requiredBy);
  return nowMs >= requiredByMs ? act({ do: "expire-approval", approval, nowMs }) : requeueAt(requiredByMs, nowMs);
}

/** Expires the approval of an incident that no longer needs it. */
export function expireOpenApproval({ approval, nowMs }: Snapshot): readonly Action[] {
  return approval && !approval.status ? [{ do: "expire-approval", approval, nowMs }] : [];
}

/** Handles an answer. An approval reserves nothing: everything is decided again. */
function decideAnswered(
  { incident, nowMs, answerersKnownSinceMs }: Snapshot,
  approval: RemediationApprovalRequest,
  status: NonNullable<RemediationApprovalRequest["status"]>,
): Decision<Action> {
  const event = events.approvalAnsweredEvent(incident, approval, status, answerersKnownSinceMs);
  const isLate = Date.parse(status.decidedAt) > Date.parse(approval.spec.requiredBy);
  if (status.decision === "Approved" && !isLate) {
    return act(
      { do: "record", event },
      { do: "set-status", status: diagnosedStatus(incident, requireDiagnosis(incident), nowMs) },
    );
  }
  if (status.decision === "Rejected") {
    const message = `rejected by ${status.decidedBy}: ${status.decisionMessage}`;
    const { actions } = close(incident, { phase: "Failed", outcome: "ApprovalRejected", message }, nowMs);
    return act({ do: "record", event }, ...actions);
  }
  const message = `it was not approved before ${approval.spec.requiredBy}`;
  const { actions } = close(incident, { phase: "Failed", outcome: "ApprovalExpired", message }, nowMs);
  return act({ do: "record", event }, { do: "notify", notice: approvalExpired(incident, approval) }, ...actions);
}
