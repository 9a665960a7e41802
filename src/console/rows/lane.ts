import { findStall, type IncidentBlock, isClosedIncident, type RemediationRequest } from "../../resources/index.ts";
import type { Lane, OperationName } from "../wire.ts";

/** The lane of an incident: who or what it waits for. */
export function laneOf(incident: RemediationRequest): Lane {
  const { status } = incident;
  if (isClosedIncident(incident)) return "done";
  // Writes about it keep failing, and retries alone did not help.
  if (findStall(incident)) return "needsYou";
  switch (status?.phase) {
    case "AwaitingApproval":
      return "needsYou";
    case "Executing":
    case "Verifying":
      return "running";
    case "Blocked":
      return blockedLane(status.block, status.requiresManualReview === true);
    default:
      return "waiting";
  }
}

function blockedLane({ reason, cause }: IncidentBlock, needsReview: boolean): Lane {
  switch (reason) {
    case "PreviousExecutionFailed":
    case "ExhaustedRetries":
    case "Ineffective":
      return "needsYou";
    case "ResourceBusy":
      return "queued";
    case "RecentlyRemediated":
      return cause === "backoff" ? "backingOff" : "coolingDown";
    case "Paused":
      return "paused";
    case "NoMatchingRule":
      return needsReview ? "needsYou" : "waiting";
    case "CauseOpen":
    case "ObserveOnly":
      return "waiting";
  }
}

/** The operations that move an incident on, the best first. */
export function nextOperations(incident: RemediationRequest): readonly OperationName[] {
  const { status } = incident;
  if (isClosedIncident(incident)) {
    const ack = status?.requiresManualReview ? (["ack"] as const) : [];
    return status?.phase === "Failed" ? [...ack, "retry"] : ack;
  }
  if (status?.phase === "AwaitingApproval") return ["approve", "reject", "cancel"];
  if (status?.phase !== "Blocked") return ["cancel"];
  if (status.requiresManualReview) return ["ack", "cancel"];
  return status.block.reason === "Paused" ? ["resume", "cancel"] : ["cancel"];
}
