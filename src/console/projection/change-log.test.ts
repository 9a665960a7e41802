import { describe, expect, it } from "vitest";
import { rowKinds } from "../wire.ts";
import { ChangeLog, type RowRef } from "./change-log.ts";

const a: RowRef = { kind: "incidents", key: "ns/a" };
const b: RowRef = { kind: "incidents", key: "ns/b" };
const e: RowRef = { kind: "executions", key: "ns/e" };

describe("a log of changes", () => {
  it("has every row once that changed after a version", () => {
    const log = begun();
    const { version } = log;

    log.add("incidents", 11n, [a]);
    log.add("incidents", 12n, [a, b]);
    log.add("executions", 13n, [e]);

    expect(log.since(version)).toEqual([a, b, e]);
    expect(log.since(log.version)).toEqual([]);
  });

  it("misses no change of a kind whose watch is behind that of another", () => {
    const log = begun();
    log.add("incidents", 20n, [a]);
    const { version } = log;

    log.add("executions", 15n, [e]);

    expect(log.since(version)).toEqual([e]);
  });

  it("continues a version of another replica, although the two have listed an idle kind at different times", () => {
    const [early, late] = [begun(10n), begun(50n)];
    for (const log of [early, late]) log.add("incidents", 60n, [a]);
    const { version } = late;

    early.add("incidents", 61n, [b]);

    expect(early.since(version)).toEqual([b]);
  });

  it("is behind a version with a change that it has not seen", () => {
    const [one, other] = [begun(), begun()];
    one.add("incidents", 11n, [a]);

    expect(other.since(one.version)).toBe("ahead");
    other.advance("incidents", 12n);
    expect(other.since(one.version)).toEqual([]);
  });

  it("does not know changes before its first list", () => {
    const [before, after] = [begun(10n), begun(20n)];

    expect(after.since(before.version)).toBe("lost");
  });

  it("does not know changes that it has dropped, and knows the others", () => {
    const log = begun(10n, 4);
    const first = log.version;
    for (let version = 11n; version <= 13n; version++) log.add("incidents", version, [a]);
    const second = log.version;
    for (let version = 14n; version <= 15n; version++) log.add("incidents", version, [b]);

    expect(log.since(first)).toBe("lost");
    expect(log.since(second)).toEqual([b]);
  });

  it("does not know versions of another server", () => {
    expect(begun().since(new ChangeLog("other").version)).toBe("lost");
  });
});

function begun(version = 10n, maxRows = 100): ChangeLog {
  const log = new ChangeLog("epoch", maxRows);
  for (const kind of rowKinds) log.begin(kind, { reached: version, latest: 5n });
  return log;
}
