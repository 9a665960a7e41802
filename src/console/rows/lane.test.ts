import { describe, expect, it } from "vitest";
import type { RemediationRequest } from "../../resources/index.ts";
import type { Lane, OperationName } from "../wire.ts";
import { laneOf, nextOperations } from "./lane.ts";

type Status = NonNullable<RemediationRequest["status"]>;
type Row = readonly [string, object | undefined, Lane, readonly OperationName[]];

const stalled = {
  type: "Stalled",
  status: "True",
  reason: "Forbidden",
  message: "executions cannot be created",
  lastTransitionTime: "2026-03-01T12:00:00.000Z",
};

const review = { requiresManualReview: true };

describe("an incident", () => {
  it.each<Row>([
    ["without a status", undefined, "waiting", ["cancel"]],
    ["that is pending", { phase: "Pending" }, "waiting", ["cancel"]],
    ["that is analyzed", { phase: "Analyzing" }, "waiting", ["cancel"]],
    ["that awaits an approval", { phase: "AwaitingApproval" }, "needsYou", ["approve", "reject", "cancel"]],
    ["that is executed", { phase: "Executing" }, "running", ["cancel"]],
    ["that is verified", { phase: "Verifying" }, "running", ["cancel"]],
    ["blocked by PreviousExecutionFailed", blocked("PreviousExecutionFailed", review), "needsYou", ["ack", "cancel"]],
    ["blocked by ExhaustedRetries", blocked("ExhaustedRetries", review), "needsYou", ["ack", "cancel"]],
    ["blocked by Ineffective", blocked("Ineffective", review), "needsYou", ["ack", "cancel"]],
    ["blocked by ResourceBusy", blocked("ResourceBusy"), "queued", ["cancel"]],
    ["that cools down", blocked("RecentlyRemediated", { cause: "cooldown" }), "coolingDown", ["cancel"]],
    ["that backs off", blocked("RecentlyRemediated", { cause: "backoff" }), "backingOff", ["cancel"]],
    ["that waits for a time of unknown cause", blocked("RecentlyRemediated"), "coolingDown", ["cancel"]],
    ["that is paused", blocked("Paused"), "paused", ["resume", "cancel"]],
    ["of which the cause is open", blocked("CauseOpen"), "waiting", ["cancel"]],
    ["that is only observed", blocked("ObserveOnly"), "waiting", ["cancel"]],
    ["without a rule", blocked("NoMatchingRule"), "waiting", ["cancel"]],
    ["without a rule that a person must review", blocked("NoMatchingRule", review), "needsYou", ["ack", "cancel"]],
    ["that is completed", { phase: "Completed" }, "done", []],
    ["that is withdrawn", { phase: "Withdrawn" }, "done", []],
    ["that failed", { phase: "Failed" }, "done", ["retry"]],
    ["that failed and must be reviewed", { phase: "Failed", ...review }, "done", ["ack", "retry"]],
    ["that is stalled", { phase: "Analyzing", conditions: [stalled] }, "needsYou", ["cancel"]],
    ["that is paused and stalled", { ...blocked("Paused"), conditions: [stalled] }, "needsYou", ["resume", "cancel"]],
    ["that was stalled before it closed", { phase: "Completed", conditions: [stalled] }, "done", []],
    [
      "that is no longer stalled",
      { phase: "Executing", conditions: [{ ...stalled, status: "False" }] },
      "running",
      ["cancel"],
    ],
  ])("%s has its lane and its next operations", (_name, status, lane, next) => {
    const incident = { metadata: {}, spec: {}, ...(status && { status: status as Status }) } as RemediationRequest;

    expect(laneOf(incident)).toBe(lane);
    expect(nextOperations(incident)).toEqual(next);
  });
});

function blocked(reason: string, { cause, ...rest }: { cause?: string; requiresManualReview?: boolean } = {}) {
  return { phase: "Blocked", block: { reason, message: "…", ...(cause && { cause }) }, ...rest };
}
