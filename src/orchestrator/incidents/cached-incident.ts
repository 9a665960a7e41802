import {
  hasSmallSeries,
  type RemediationRequest,
  seriesVersion,
  withoutSeries,
  withoutSignalTexts,
} from "../../resources/index.ts";

/** An incident whose series are left out, because they are many or large. It must be read before its status is written. */
interface PartialIncident extends RemediationRequest {
  /** The version of the series that are left out. */
  readonly cachedSeriesVersion: string;
}

/** The incident as the cache keeps it: every open one is in memory all the time. */
export function toCachedIncident(incident: RemediationRequest): RemediationRequest {
  const cached = withoutSignalTexts(incident);
  if (hasSmallSeries(incident)) return cached;
  const partial: PartialIncident = { ...withoutSeries(cached), cachedSeriesVersion: seriesVersion(incident) };
  return partial;
}

export function isPartial(incident: RemediationRequest): incident is PartialIncident {
  return "cachedSeriesVersion" in incident;
}

/** The version of the series of an incident, whether it has them or not. */
export function knownSeriesVersion(incident: RemediationRequest): string {
  return isPartial(incident) ? incident.cachedSeriesVersion : seriesVersion(incident);
}
