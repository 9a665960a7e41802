import { describe, expect, it } from "vitest";
import {
  aboutText,
  appendEvents,
  chainTone,
  factText,
  type LoadedEvents,
  orderFacts,
  refreshEvents,
} from "./ledger.ts";

describe("the loaded part of the ledger", () => {
  it("gets new events in front, and keeps its place at the end", () => {
    const refreshed = refreshEvents(events(["c", "b", "a"], "before a"), events(["e", "d", "c"], "before c"));

    expect(refreshed).toEqual(events(["e", "d", "c", "b", "a"], "before a"));
  });

  it("stays the same value while there is no new event", () => {
    const list = events(["c", "b"], "before b");

    expect(refreshEvents(list, events(["c"], "before c"))).toBe(list);
  });

  it("stays the same value if nothing matches in the newest part", () => {
    const list = events(["b", "a"], undefined);

    expect(refreshEvents(list, events([], "before c"))).toBe(list);
  });

  it("starts anew if more events are new than a page has", () => {
    const page = events(["f", "e"], "before e");

    expect(refreshEvents(events(["b", "a"], undefined), page)).toBe(page);
  });

  it("has each event once when the next page overlaps", () => {
    const appended = appendEvents(events(["d", "c"], "before c"), events(["c", "b"], undefined));

    expect(appended).toEqual(events(["d", "c", "b"], undefined));
  });
});

it.each([
  ["worker-1", "worker-1"],
  [3, "3"],
  [["a", "b"], '[\n  "a",\n  "b"\n]'],
  [[{ answer: "passes", asks: "is it paused", evidence: "no", number: 1 }], "passes: is it paused: no"],
])("shows the fact %j as text", (fact, expected) => {
  expect(factText(fact)).toBe(expected);
});

it.each([
  [{ target_resource: "node/a", remediation_id: "rr-1" }, "node/a"],
  [{ remediation_id: "rr-1" }, "rr-1"],
  [{ channels: ["console"] }, ""],
])("an event with the facts %j is about %j", (facts, expected) => {
  expect(aboutText(facts)).toBe(expected);
});

it("shows short facts before long ones", () => {
  const facts = orderFacts({ checks: [], message: "paused", verdict: "block" });

  expect(facts.map(([name]) => name)).toEqual(["message", "verdict", "checks"]);
});

it.each([
  ["complete", "good"],
  ["changed: row 12 is not what was written", "bad"],
])("a chain that is %s is %s", (state, tone) => {
  expect(chainTone(state)).toBe(tone);
});

function events(ids: readonly string[], next: string | undefined): LoadedEvents {
  return {
    rows: ids.map((id) => ({
      id,
      key: id,
      at: "2026-11-16T10:00:00Z",
      type: "incident.created",
      summary: id,
      facts: {},
    })),
    next,
  };
}
