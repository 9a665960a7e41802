import type { RemediationRequest } from "../resources/index.ts";
import { knownSeriesVersion } from "./cached-incident.ts";
import { isWaiting } from "./decide.ts";

/**
 * Changes whenever an incident that waits has to be analyzed again by a replica that has analyzed it before. Empty for an
 * incident with a diagnosis and a single series: it is analyzed again when the rules change, and not merely because this
 * replica has not analyzed it. An incident without a diagnosis is, because the replica that blocked it may have had old rules.
 */
export function analysisVersion(incident: RemediationRequest): string {
  if (!isWaiting(incident)) return "";
  const series = knownSeriesVersion(incident);
  return incident.status?.diagnosis ? series : `no rule ${series}`;
}
