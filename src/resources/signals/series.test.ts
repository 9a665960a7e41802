import { describe, expect, it } from "vitest";
import type { IncidentSeries, RemediationRequest } from "../kinds/remediation-request.ts";
import { seriesVersion } from "./series.ts";

describe("the version of an incident's series", () => {
  it("stays the same across releases, because analyses are recorded with it", () => {
    const first = { firingAt: "2026-11-15T06:00:01.000Z", labels: { pod: "b" }, withoutLabels: ["x"] };
    const second = { firingAt: "2026-11-15T06:00:00.000Z", annotations: { s: "t" }, subject: "n/pod/b" };
    const worst = { firingAt: "2026-11-15T06:00:03.000Z", severity: "critical" };
    const over = { firingAt: "2026-11-15T06:00:02.000Z", resolvedAt: "2026-11-15T06:00:02.500Z", isTooLarge: true };

    expect(seriesVersion(incident("critical", { first, second, worst, over }))).toBe("aff2053c24259e04");
  });

  it("is empty while all series are described by the first signal", () => {
    const [one, other] = [{ firingAt: "2026-11-15T06:00:01.000Z" }, { firingAt: "2026-11-15T06:00:02.000Z" }];

    expect(seriesVersion(incident("warning", { one, other }))).toBe("");
    expect(seriesVersion(incident("critical", { one, other }))).not.toBe("");
  });
});

function incident(severity: string, series: Record<string, IncidentSeries>) {
  const status = { deduplication: { severity, series } };
  return { spec: { severity: "warning" }, status } as unknown as RemediationRequest;
}
