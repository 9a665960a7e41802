import { expect, it } from "vitest";
import type { IncidentRow } from "../../src/console/wire.ts";
import { sortLane } from "./lanes.ts";

it("orders a queue by position", () => {
  expect(names("queued", [row("c", { position: 3 }), row("x"), row("a", { position: 1 })])).toEqual(["a", "c", "x"]);
});

it.each(["coolingDown", "backingOff"] as const)("orders %s by the end of the wait", (lane) => {
  const rows = [
    row("late", { until: "2026-11-16T19:00:00Z" }),
    row("open"),
    row("soon", { until: "2026-11-16T18:00:00Z" }),
  ];

  expect(names(lane, rows)).toEqual(["soon", "late", "open"]);
});

it("orders what is done by when it ended, the latest first", () => {
  const rows = [row("early", { closedAt: "2026-11-16T18:00:00Z" }), row("late", { closedAt: "2026-11-16T19:00:00Z" })];

  expect(names("done", rows)).toEqual(["late", "early"]);
});

it("leaves other lanes as the server sends them", () => {
  expect(names("running", [row("b"), row("a")])).toEqual(["b", "a"]);
});

function names(lane: Parameters<typeof sortLane>[0], rows: readonly IncidentRow[]) {
  return sortLane(lane, rows).map(({ name }) => name);
}

function row(name: string, fields: Partial<IncidentRow> = {}): IncidentRow {
  return { name, ...fields } as IncidentRow;
}
