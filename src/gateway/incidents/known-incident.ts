import {
  type Deduplication,
  hasSmallSeries,
  type RemediationRequest,
  withoutSeries,
  withoutSignalTexts,
} from "../../resources/index.ts";

/** An incident without its series, which are many or large. It must be read before its status is written. */
interface PartialIncident extends RemediationRequest {
  /** The latest end of the series that are left out; empty if none has ended. */
  readonly cachedLatestEndAt: string;
}

/** The cached form of an incident: the newest one of every fingerprint is always in memory. */
export function toKnownIncident(incident: RemediationRequest): RemediationRequest {
  const known = withoutSignalTexts(incident);
  if (hasSmallSeries(incident)) return known;
  const partial: PartialIncident = { ...withoutSeries(known), cachedLatestEndAt: latestEndAt(incident) };
  return partial;
}

export function isPartial(incident: RemediationRequest): incident is PartialIncident {
  return "cachedLatestEndAt" in incident;
}

/** The latest end of any series of an incident; empty if none has ended. */
export function latestEndAt(incident: RemediationRequest): string {
  return isPartial(incident) ? incident.cachedLatestEndAt : latestEndIn(incident.status?.deduplication?.series);
}

function latestEndIn(series: Deduplication["series"]): string {
  let latest = "";
  for (const key in series) {
    const { resolvedAt = "" } = series[key] ?? {};
    if (resolvedAt > latest) latest = resolvedAt;
  }
  return latest;
}
