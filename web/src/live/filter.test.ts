import { describe, expect, it } from "vitest";
import type { IncidentRow, Row } from "../../../src/console/wire.ts";
import { filterFromQuery, matchesFilter, parseDuration, withFilter } from "./filter.ts";

const now = Date.parse("2026-11-16T18:00:00Z");

describe("filters in the URL", () => {
  it("are read by name; empty and unknown parameters are no filters", () => {
    expect(filterFromQuery(new URLSearchParams("lane=waiting&search=+disk+full+&target=&tab=why"))).toEqual({
      lane: "waiting",
      search: "disk full",
    });
  });

  it("are set and removed one at a time, and leave the rest of the query", () => {
    const query = new URLSearchParams("lane=waiting&tab=why");

    expect(withFilter(query, "lane", "running").toString()).toBe("lane=running&tab=why");
    expect(withFilter(query, "lane", " ").toString()).toBe("tab=why");
  });
});

describe("a row", () => {
  it.each([
    [{}, true],
    [{ lane: "running,waiting" }, true],
    [{ lane: "running" }, false],
    [{ phase: "blocked" }, true],
    [{ target: "search/deployment/api" }, true],
    [{ target: "search/deployment" }, false],
    [{ workflow: "drain" }, false],
    [{ namespace: "payment" }, true],
    [{ namespace: "search" }, true],
    [{ namespace: "other" }, false],
    [{ reason: "backoff" }, true],
    [{ reason: "RecentlyRemediated" }, true],
    [{ reason: "Paused" }, false],
    [{ phase: " , " }, true],
    [{ since: "2h" }, true],
    [{ since: "30m" }, false],
    [{ search: "DISK worker" }, true],
    [{ search: "disk nothing" }, false],
  ])("with the filter %j: %s", (filter, expected) => {
    expect(matchesFilter(row, filter, now)).toBe(expected);
  });
});

it.each<[Partial<Row>, string]>([
  [{ kind: "approvals" }, "Pending"],
  [{ kind: "approvals", decision: "Rejected" }, "Rejected"],
  [{ kind: "pauses", reason: "release" }, "Active"],
  [{ kind: "pauses", endedAt: "2026-11-16T17:00:00Z" }, "Ended"],
  [{ kind: "targets" }, "Free"],
  [{ kind: "targets", holder: "payment/wfe-1" }, "Held"],
])("rows without a phase are filtered by their state: %j is %s", (part, phase) => {
  const other = { key: "payment/a-1", createdAt: "2026-11-16T16:30:00Z", ...part } as Row;

  expect(matchesFilter(other, { phase: phase.toLowerCase() }, now)).toBe(true);
  expect(matchesFilter(other, { phase: "Running" }, now)).toBe(false);
});

it.each([
  ["90s", 90_000],
  ["15m", 900_000],
  ["2h30m", 9_000_000],
  ["7d", Number.POSITIVE_INFINITY],
  ["", Number.POSITIVE_INFINITY],
  ["soon", Number.POSITIVE_INFINITY],
])("reads the duration %s as %d ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

const row: IncidentRow = {
  kind: "incidents",
  key: "payment/rr-1",
  name: "rr-1",
  version: "5",
  createdAt: "2026-11-16T16:30:00Z",
  lane: "waiting",
  phase: "Blocked",
  signal: "DiskPressure",
  severity: "critical",
  subject: "node/worker-1",
  target: "search/deployment/api",
  reason: "Backoff",
  next: [],
  seen: 1,
};
