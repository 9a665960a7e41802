import { expect, it } from "vitest";
import type { IncidentRow } from "../../src/console/wire.ts";
import { groupRows, sortLane } from "./lanes.ts";

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

it("orders closed incidents by the time of their end, the latest first", () => {
  const rows = [row("early", { closedAt: "2026-11-16T18:00:00Z" }), row("late", { closedAt: "2026-11-16T19:00:00Z" })];

  expect(names("done", rows)).toEqual(["late", "early"]);
});

it("shows incidents whose workflow acts before those that are verified", () => {
  const rows = [
    row("verified", { phase: "Verifying" }),
    row("b", { phase: "Executing" }),
    row("a", { phase: "Executing" }),
  ];

  expect(names("running", rows)).toEqual(["b", "a", "verified"]);
});

it("leaves other lanes as the server sends them", () => {
  expect(names("waiting", [row("b"), row("a")])).toEqual(["b", "a"]);
});

it("shows incidents of one signal, target, workflow and state together, at the place of the first", () => {
  const evicted = { signal: "Evicted", target: "node/a", workflow: "clean", phase: "Verifying" };
  const rows = [row("1", evicted), row("2", { ...evicted, phase: "Executing" }), row("3", evicted), row("4", evicted)];

  expect(groupRows(rows).map(({ row: { name }, count }) => [name, count])).toEqual([
    ["1", 3],
    ["2", 1],
  ]);
});

it("shows incidents without a target one by one", () => {
  const rows = [row("1", { key: "n/1", signal: "Skew" }), row("2", { key: "n/2", signal: "Skew" })];

  expect(groupRows(rows)).toHaveLength(2);
});

function names(lane: Parameters<typeof sortLane>[0], rows: readonly IncidentRow[]) {
  return sortLane(lane, rows).map(({ name }) => name);
}

function row(name: string, fields: Partial<IncidentRow> = {}): IncidentRow {
  return { name, ...fields } as IncidentRow;
}
