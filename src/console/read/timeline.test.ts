import { describe, expect, it } from "vitest";
import { type LedgerEvent, ledgerEventTypes } from "../../ledger/index.ts";
import { eventTitle, ledgerTimeline } from "./timeline.ts";

describe("the timeline of ledger events", () => {
  it("has a short title for every type of event", () => {
    for (const type of ledgerEventTypes) {
      const title = eventTitle(event(type, 1, { signal_name: "x".repeat(1_000), verdict: "block" }));

      expect(title).toMatch(/./);
      expect(title.length).toBeLessThanOrEqual(150);
    }
  });

  it("shows an execution from its start to its end as one event", () => {
    const facts = { execution_id: "u", execution: "ns/e", workflow_id: "cleanup", message: "disk full" };

    expect(ledgerTimeline([event("execution.started", 1, facts), event("execution.failed", 5, facts)])).toEqual([
      {
        at: at(1),
        until: at(5),
        lane: "runs",
        title: "cleanup failed",
        detail: "disk full",
        tone: "bad",
        link: "/executions/ns/e",
      },
    ]);
  });

  it("shows an end whose start is not there, and an execution that still runs", () => {
    const ended = event("execution.completed", 5, { execution_id: "u", workflow_id: "cleanup" });
    const running = event("execution.started", 6, { execution_id: "v", workflow_id: "restart" });

    expect(ledgerTimeline([ended, running]).map(({ title, until }) => [title, until])).toEqual([
      ["cleanup succeeded", at(5)],
      ["restart runs", undefined],
    ]);
  });

  it("shows the creation of a run as a moment, which does not go on", () => {
    const [created] = ledgerTimeline([event("run.created", 3, { execution_id: "u", workflow_id: "cleanup" })]);

    expect(created).toMatchObject({ at: at(3), until: at(3), title: "run of cleanup created" });
  });

  it("has the newest events of a long history", () => {
    const events = Array.from({ length: 2_000 }, (_, count) => event("signals.counted", 1, { occurrences: count }));

    const shown = ledgerTimeline(events);

    expect(shown).toHaveLength(500);
    expect(shown.at(-1)?.signals).toBe(1_999);
  });

  it("leaves out deliveries and the ledger's own events", () => {
    expect(ledgerTimeline([event("notice.sent", 1, {}), event("ledger.heads", 2, {})])).toEqual([]);
  });

  it("cuts long texts of outside systems", () => {
    const [shown] = ledgerTimeline([event("signal.ignored", 1, { because: "<script>".repeat(1_000) })]);

    expect(shown?.detail).toHaveLength(500);
  });
});

function at(minute: number): string {
  return `2026-03-01T12:0${minute}:00.000Z`;
}

function event(type: LedgerEvent["type"], minute: number, facts: LedgerEvent["facts"]): LedgerEvent {
  return { id: `${type}/${minute}`, type, at: at(minute), facts };
}
