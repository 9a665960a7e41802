import { type Decision, requeueAfter } from "../../kube/index.ts";
import {
  type CancelRequest,
  describeCancellation,
  isClosedIncident,
  type RemediationRequest,
  readCancelRequest,
  type WorkflowExecution,
} from "../../resources/index.ts";
import { type Action, act } from "../action.ts";
import { expireOpenApproval } from "../approvals/decide-approval.ts";
import * as events from "../reports/ledger-events.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Closing } from "../statuses.ts";
import { close } from "./ending.ts";

/** Cancels an open incident at the request of an operator: its executions are stopped first, then it is closed. */
export function cancelIncident(snapshot: Snapshot, request: CancelRequest): Decision<Action> {
  const { incident, unfinished, nowMs } = snapshot;
  const cancelled = cancelExecutions(unfinished, request);
  if (cancelled) return cancelled;
  const event = events.cancelledEvent(incident, request, snapshot);
  const { actions } = close(incident, cancelledClosing(request), nowMs);
  return act({ do: "record", event }, ...expireOpenApproval(snapshot), ...actions);
}

/** Forwards the request to executions that may still act. Returns undefined if there is none. */
export function cancelExecutions(
  unfinished: readonly WorkflowExecution[],
  request: CancelRequest,
): Decision<Action> | undefined {
  const [next] = unfinished.filter(
    (execution) => !execution.metadata.deletionTimestamp && !readCancelRequest(execution),
  );
  if (next) return act({ do: "cancel-execution", execution: next, request });
  // The end of an execution is an event. The delay is for a lost one.
  return unfinished.length > 0 ? requeueAfter(5_000) : undefined;
}

export function cancelledClosing(request: Pick<CancelRequest, "by" | "reason" | "blocks">): Closing {
  const message = describeCancellation(request);
  return { phase: "Withdrawn", outcome: "Cancelled", message, review: request.blocks };
}

/** Returns the request of an operator to cancel an open incident. */
export function openCancelRequest(incident: RemediationRequest): CancelRequest | undefined {
  return isClosedIncident(incident) ? undefined : readCancelRequest(incident);
}
