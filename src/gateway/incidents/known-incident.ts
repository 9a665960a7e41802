import {
  type Deduplication,
  hasSmallSeries,
  type RemediationRequest,
  withoutSeries,
  withoutSignalTexts,
} from "../../resources/index.ts";

/** An incident whose series are left out, because they are many or large. It must be read before its status is written. */
interface PartialIncident extends RemediationRequest {
  /** The latest end among the series that are left out; empty if all of them fire. */
  readonly cachedLatestEndAt: string;
}

/** The incident as the gateway keeps it: the newest of every fingerprint is in memory all the time. */
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
