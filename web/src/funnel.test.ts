import { describe, expect, it } from "vitest";
import type { Storm } from "../../src/console/wire.ts";
import { formatShare, funnelSteps } from "./funnel.ts";

describe("the funnel of a storm", () => {
  it("has the stages in order, each followed by the parts that it absorbs", () => {
    const steps = funnelSteps(totals({}));

    expect(steps.map(({ kind, label }) => `${kind} ${label}`)).toEqual([
      "stage Signals",
      "absorbed Deduplicated",
      "stage Incidents",
      "absorbed Followed",
      "absorbed Cooling down",
      "absorbed Otherwise blocked",
      "absorbed Waiting",
      "stage Runs",
    ]);
  });

  it("gives each absorbed part its share of the stage before it", () => {
    const steps = funnelSteps(
      totals({
        signals: 200,
        deduplicated: 180,
        incidents: 20,
        followed: 10,
        coolingDown: 5,
        otherwiseBlocked: 1,
        waiting: 2,
      }),
    );

    expect(steps.flatMap(({ share }) => share ?? [])).toEqual([
      { value: 0.9, of: "signals" },
      { value: 0.5, of: "incidents" },
      { value: 0.25, of: "incidents" },
      { value: 0.05, of: "incidents" },
      { value: 0.1, of: "incidents" },
    ]);
  });

  it("has no share and no bar while nothing was received", () => {
    const steps = funnelSteps(totals({}));

    expect(steps.every(({ share, width }) => share === undefined && width === 0)).toBe(true);
  });

  it("fits into its width when runs outnumber the signals of the window", () => {
    const steps = funnelSteps(totals({ signals: 1, runs: 4 }));

    expect(steps.map(({ width }) => width)).toEqual([0.25, 0, 0, 0, 0, 0, 0, 1]);
  });
});

it.each([
  [0, "0%"],
  [0.0001, "<1%"],
  [0.256, "26%"],
  [0.9999, ">99%"],
  [1, "100%"],
])("formats the share %d as %s", (value, expected) => {
  expect(formatShare(value)).toBe(expected);
});

function totals(part: Partial<Storm["totals"]>): Storm["totals"] {
  return {
    signals: 0,
    deduplicated: 0,
    incidents: 0,
    followed: 0,
    coolingDown: 0,
    otherwiseBlocked: 0,
    waiting: 0,
    runs: 0,
    ...part,
  };
}
