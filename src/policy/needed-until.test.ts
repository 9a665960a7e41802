import { describe, expect, it } from "vitest";
import type { ExecutionEnd, WorkflowHistory } from "../resources/index.ts";
import { neededUntilMs } from "./fold.ts";
import { defaultPolicy } from "./settings.ts";

const minute = 60_000;
const now = Date.parse("2026-03-01T12:00:00.000Z");
const forever = Number.POSITIVE_INFINITY;
const settings = { ...defaultPolicy, ineffective: { times: 3, withinMs: 60 * minute } };

describe("the history of a workflow on a target", () => {
  it.each<[string, Partial<WorkflowHistory>, number]>([
    ["that is empty is not needed", {}, Number.NEGATIVE_INFINITY],
    ["with a success is needed while check 7 counts it", { lastSuccess: end("Success") }, now + 60 * minute],
    [
      "with a failure while acting is needed until it is acknowledged",
      { lastExecutionFailure: end("Failed") },
      forever,
    ],
    [
      "with a failure while acting that was acknowledged is not needed",
      { lastExecutionFailure: end("Failed"), ack: ack() },
      Number.NEGATIVE_INFINITY,
    ],
    [
      "of a fix that does not last is needed until it is acknowledged",
      { ineffective: { latestSuccess: end("Success"), foundAt: iso(now) }, lastSuccess: end("Success") },
      forever,
    ],
    ["with its retries exhausted is needed until it is acknowledged", { consecutiveFailures: 5 }, forever],
    [
      "with a failure before acting is needed until the backoff is over",
      { consecutiveFailures: 4, lastFailure: end("Failed"), nextAllowed: iso(now + 8 * minute) },
      now + 8 * minute,
    ],
  ])("%s", (_what, facts, expected) => {
    const history = { workflowId: "cleanup", consecutiveFailures: 0, recentEnds: [], ...facts };

    expect(neededUntilMs(history, { cooldownMs: 5 * minute, settings })).toBe(expected);
  });

  it("is needed until a cooldown is over that is longer than check 7 counts", () => {
    const history = { workflowId: "cleanup", consecutiveFailures: 0, recentEnds: [], lastSuccess: end("Success") };

    expect(neededUntilMs(history, { cooldownMs: 90 * minute, settings })).toBe(now + 90 * minute);
  });
});

function end(outcome: ExecutionEnd["outcome"]): ExecutionEnd {
  return {
    executionUid: "u",
    executionName: "wfe-a",
    executionNamespace: "ns",
    outcome,
    completedAt: iso(now),
    ...(outcome === "Failed" && { wasExecutionFailure: true }),
  };
}

function ack() {
  return { executionUid: "u", coversUntil: iso(now), by: "kim", verified: true, reason: "looked", at: iso(now) };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
