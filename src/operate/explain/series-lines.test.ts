import { expect, it } from "vitest";
import type { RemediationRequest } from "../../resources/index.ts";
import { seriesLines } from "./series-lines.ts";

const at = "2026-11-15T06:00:00.000Z";
const first = { firingAt: at };
const disk = { firingAt: at, severity: "critical", labels: { condition: "DiskPressure", severity: "critical" } };

it("an incident of several series lists them, the most severe first and those that ended last", () => {
  const ended = { firingAt: at, labels: { condition: "PIDPressure" }, resolvedAt: at };

  expect(seriesLines(incident({ series: { a: ended, b: first, c: disk } }))).toEqual([
    `critical, condition=DiskPressure, fires since ${at}`,
    `warning, condition=MemoryPressure, fires since ${at}`,
    `warning, condition=PIDPressure, ended at ${at}`,
  ]);
});

it("an incident of one series lists none", () => {
  expect(seriesLines(incident({ series: { a: first } }))).toEqual([]);
});

it("prints the number of series that are not listed, and that more exist than the incident stores", () => {
  const series = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`s${i}`, first]));

  expect(seriesLines(incident({ series, hasMoreSeries: true })).slice(10)).toEqual([
    "and 2 more",
    "more series than the 12 listed fired; rules do not read the others",
  ]);
});

function incident(deduplication: object): RemediationRequest {
  const spec = { severity: "warning", signalLabels: { condition: "MemoryPressure" } };
  return { spec, status: { deduplication } } as unknown as RemediationRequest;
}
