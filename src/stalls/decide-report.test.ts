import { describe, expect, it } from "vitest";
import type { Stall } from "../resources/index.ts";
import { decideReport, type ReportSnapshot } from "./decide-report.ts";

const second = 1_000;
const minute = 60 * second;

describe("a write that keeps failing", () => {
  it.each<[string, Partial<ReportSnapshot>, string]>([
    ["is not reported while retries may still help", { nowMs: 4_999 }, ""],
    ["is reported after 5 seconds", { nowMs: 5_000 }, "condition event"],
    ["is not reported again by a retry before the announced attempt", { nowMs: 20_000, reported: reported(25) }, ""],
    ["is reported again after the announced attempt", { nowMs: 25_000, reported: reported(25) }, "condition"],
    [
      "is reported again when the reason changes",
      { nowMs: 20_000, reported: { ...reported(25), reason: "Forbidden" } },
      "condition event",
    ],
    ["becomes a notice after 2 minutes", { nowMs: 2 * minute, reported: reported(200) }, "notice"],
    ["becomes no second notice", { nowMs: 3 * minute, reported: reported(200), notified: true }, ""],
    ["without a known next attempt is reported once", { nowMs: minute, reported: reported(undefined) }, ""],
  ])("%s", (_name, snapshot, expected) => {
    expect(parts(snapshot)).toBe(expected);
  });
});

function parts(snapshot: Partial<ReportSnapshot>): string {
  const stall = { reason: "WebhookFailed", sinceMs: 0 } as const;
  const decision = decideReport({ nowMs: 0, stall, reported: undefined, notified: false, ...snapshot });
  const { writeCondition, recordEvent, notify } = decision;
  return [writeCondition && "condition", recordEvent && "event", notify && "notice"].filter(Boolean).join(" ");
}

function reported(nextAttemptS: number | undefined): Omit<Stall, "error"> {
  const next = nextAttemptS === undefined ? {} : { nextAttemptMs: nextAttemptS * second };
  return { reason: "WebhookFailed", sinceMs: 0, ...next };
}
