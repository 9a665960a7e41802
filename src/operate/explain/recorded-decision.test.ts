import { describe, expect, it } from "vitest";
import type { LedgerEvent } from "../../ledger/index.ts";
import type { RemediationRequest } from "../../resources/index.ts";
import { decisionLines, isDecisionOn } from "./recorded-decision.ts";

const events = [
  decided("run-1", { verdict: "run" }),
  { ...decided("skip-1", { skip_reason: "ResourceBusy", message: "busy" }), type: "execution.skipped" as const },
  decided("ask-1", { verdict: "ask" }),
  decided("follow-1", { verdict: "follow" }),
  decided("block-1", { verdict: "block", reason: "Paused" }),
];

describe("the recorded decision on an incident", () => {
  it.each([
    ["that the executor refused is that refusal", { phase: "Blocked", block: { decision: "skip-1" } }, "skip-1"],
    ["that waits is the one its block names", { phase: "Blocked", block: { decision: "block-1" } }, "block-1"],
    ["whose block is not in the ledger yet is not printed", { phase: "Blocked", block: { decision: "x" } }, undefined],
    ["that acts is the one to run, even if another replica decided otherwise", { phase: "Executing" }, "run-1"],
    ["that follows is the one to follow", { phase: "Verifying", follows: { uid: "x" } }, "follow-1"],
    ["that waits for a person is the question", { phase: "AwaitingApproval" }, "ask-1"],
    ["that was helped is the one to run", { phase: "Completed", outcome: "Remediated" }, "run-1"],
    ["that was only watched is not one to run", { phase: "Completed", outcome: "Observed" }, undefined],
    ["that is decided about is the latest", { phase: "Analyzing" }, "block-1"],
    ["that is new is not there", undefined, undefined],
  ])("%s", (_what, status, id) => {
    const known = status ? events : [];

    const incident = { status } as unknown as RemediationRequest;
    expect(known.findLast((event) => isDecisionOn(incident, event))?.id).toBe(id);
  });

  it("is printed with its reason, whichever stage decided", () => {
    expect(decisionLines(events[1] as LedgerEvent)).toEqual([
      "Decided at 2026-03-01T12:00:00.000Z: skip, ResourceBusy",
      "  busy",
    ]);
  });
});

function decided(id: string, facts: LedgerEvent["facts"]): LedgerEvent {
  return { id, type: "incident.decided", at: "2026-03-01T12:00:00.000Z", facts };
}
