import { describe, expect, it } from "vitest";
import type { IncidentRow, Lane, Now, Row } from "../../../src/console/wire.ts";
import { appendRows, mergeNow, mergeRows, type RowList } from "./merge.ts";

const all = { kind: "incidents", matches: () => true } as const;

describe("a list of rows", () => {
  it("replaces a changed row in its place", () => {
    const { value, isExact } = mergeRows(
      list(["c", "b", "a"]),
      changed(incident("b", { version: "9", phase: "Executing" })),
      all,
    );

    expect(value.rows.map(({ key, phase }) => `${key} ${phase}`)).toEqual([
      "n/c Blocked",
      "n/b Executing",
      "n/a Blocked",
    ]);
    expect(value.total).toBe(3);
    expect(isExact).toBe(true);
  });

  it("ignores a change that is older than the loaded row", () => {
    const before = list(["a"], { version: "100" });

    const { value } = mergeRows(before, changed(incident("a", { version: "99", phase: "Executing" })), all);

    expect(value.rows[0]?.phase).toBe("Blocked");
  });

  it("adds a new row at its time, and counts it", () => {
    const { value } = mergeRows(list(["c", "a"]), changed(incident("b")), all);

    expect(value.rows.map(({ key }) => key)).toEqual(["n/c", "n/b", "n/a"]);
    expect(value.total).toBe(3);
  });

  it("adds a row once that changed twice", () => {
    const { value } = mergeRows(
      list([]),
      changed(incident("a"), incident("a", { version: "6", phase: "Executing" })),
      all,
    );

    expect(value).toMatchObject({ rows: [{ phase: "Executing" }], total: 1 });
  });

  it("drops a row that no longer matches, and reduces the total", () => {
    const closed = incident("b", { version: "9", phase: "Completed" });

    const { value } = mergeRows(list(["c", "b"]), changed(closed), {
      ...all,
      matches: (row: IncidentRow) => row.phase === "Blocked",
    });

    expect(value).toMatchObject({ rows: [{ key: "n/c" }], total: 1 });
  });

  it("drops a removed row", () => {
    const removal = { changed: [], removed: [{ kind: "incidents", key: "n/b" }] } as const;

    expect(mergeRows(list(["c", "b"]), removal, all).value).toMatchObject({ rows: [{ key: "n/c" }], total: 1 });
  });

  it("stays the same object for changes of other kinds", () => {
    const before = list(["a"]);
    const removal = { changed: [], removed: [{ kind: "pauses", key: "n/a" }] } as const;

    expect(mergeRows(before, removal, all).value).toBe(before);
  });

  it("has an inexact total after a change of a row beyond the loaded part", () => {
    const before = { ...list(["d", "c"]), total: 10, isComplete: false };

    expect(mergeRows(before, changed(incident("a")), all)).toMatchObject({
      isExact: false,
      value: { total: 10, rows: { length: 2 } },
    });
    expect(mergeRows(before, changed(incident("e")), all)).toMatchObject({
      isExact: true,
      value: { total: 11, rows: { length: 3 } },
    });
  });

  it("appends a page without repeating a row", () => {
    const page = { ...list(["b", "a"]), total: 3 };

    expect(appendRows({ ...list(["c", "b"]), isComplete: false }, page)).toMatchObject({
      rows: [{ key: "n/c" }, { key: "n/b" }, { key: "n/a" }],
      total: 3,
      isComplete: true,
    });
  });
});

describe("the lanes of Now", () => {
  it("move an incident and both counts", () => {
    const { value, isExact } = mergeNow(
      now({ waiting: ["a", "b"], running: [] }),
      changed(incident("a", { version: "9", lane: "running" })),
      50,
    );

    expect(counts(value)).toEqual({ waiting: "1: n/b", running: "1: n/a" });
    expect(isExact).toBe(true);
  });

  it("count a new incident while every row is shown", () => {
    expect(counts(mergeNow(now({ waiting: ["a"] }), changed(incident("b")), 50).value)).toEqual({
      waiting: "2: n/b n/a",
    });
  });

  it("show at most the given number of rows and still count all", () => {
    expect(counts(mergeNow(now({ waiting: ["a", "b"] }), changed(incident("c")), 2).value)).toEqual({
      waiting: "3: n/c n/b",
    });
  });

  it("are read again when a row that was left out changes", () => {
    const before = now({ waiting: ["b"] });
    const cut = { ...before, lanes: before.lanes.map((lane) => ({ ...lane, total: 7 })) };

    expect(mergeNow(cut, changed(incident("a", { lane: "waiting" })), 50).isExact).toBe(false);
  });

  it("drop a removed incident, and a pause that has ended", () => {
    const pause = {
      ...incident("p"),
      kind: "pauses",
      scope: "everything",
      author: "a",
      reason: "r",
      suppressed: 0,
    } as unknown as Row;
    const withPause = mergeNow(now({ waiting: ["a"] }), { changed: [pause], removed: [] }, 50).value;
    expect(withPause.pauses).toHaveLength(1);

    const ended = { ...pause, endedAt: "2026-11-16T18:00:00Z" } as Row;
    const { value } = mergeNow(withPause, { changed: [ended], removed: [{ kind: "incidents", key: "n/a" }] }, 50);

    expect(counts(value)).toEqual({ waiting: "0: " });
    expect(value.pauses).toEqual([]);
  });

  it.each([
    ["approvals", { requiredBy: "" }, { decision: "Approved" }],
    ["executions", { phase: "Pending" }, { phase: "Skipped" }],
  ] as const)("have the %s of no incident until they have ended", (kind, open, end) => {
    const row = { ...incident("a"), kind, ...open } as unknown as Row;
    const ofIncident = { ...row, key: "n/b", incident: "n/rr" } as Row;

    const { value } = mergeNow(now({}), changed(row, ofIncident), 50);
    const after = mergeNow(value, changed({ ...row, ...end } as Row), 50);

    expect(value[kind].map(({ key }) => key)).toEqual(["n/a"]);
    expect(after.value[kind]).toEqual([]);
  });
});

function changed(...rows: Row[]) {
  return { changed: rows, removed: [] };
}

function list(names: readonly string[], fields: Partial<IncidentRow> = {}): RowList<IncidentRow> {
  return { rows: names.map((name) => incident(name, fields)), total: names.length, isComplete: true };
}

function now(lanes: Partial<Record<Lane, readonly string[]>>): Now {
  const filled = Object.entries(lanes).map(([lane, names]) => ({
    lane: lane as Lane,
    total: names.length,
    rows: names.map((name) => incident(name, { lane: lane as Lane })),
  }));
  return { version: "1", lanes: filled, pauses: [], approvals: [], executions: [] };
}

function counts(value: Now) {
  return Object.fromEntries(
    value.lanes.map(({ lane, total, rows }) => [lane, `${total}: ${rows.map(({ key }) => key).join(" ")}`]),
  );
}

/** Created later, the later its letter. */
function incident(name: string, fields: Partial<IncidentRow> = {}): IncidentRow {
  return {
    kind: "incidents",
    key: `n/${name}`,
    name,
    version: "5",
    createdAt: new Date(Date.UTC(2026, 10, 16, name.charCodeAt(0) - 97)).toISOString(),
    lane: "waiting",
    phase: "Blocked",
    signal: "DiskPressure",
    severity: "critical",
    subject: "node/worker-1",
    next: [],
    seen: 1,
    ...fields,
  };
}
