import {
  hasSmallSeries,
  type RemediationRequest,
  seriesVersion,
  withoutSeries,
  withoutSignalTexts,
} from "../../resources/index.ts";

/** An incident without its series, because they are many or large. It must be read before its status is written. */
interface PartialIncident extends RemediationRequest {
  /** The version of the omitted series. */
  readonly cachedSeriesVersion: string;
}

/** Returns the incident as the cache keeps it, without large fields: every open incident is in memory. */
export function toCachedIncident(incident: RemediationRequest): RemediationRequest {
  const cached = withoutSignalTexts(incident);
  if (hasSmallSeries(incident)) return cached;
  const partial: PartialIncident = { ...withoutSeries(cached), cachedSeriesVersion: seriesVersion(incident) };
  return partial;
}

export function isPartial(incident: RemediationRequest): incident is PartialIncident {
  return "cachedSeriesVersion" in incident;
}

/** Returns the version of the series of an incident, whether it is partial or not. */
export function knownSeriesVersion(incident: RemediationRequest): string {
  return isPartial(incident) ? incident.cachedSeriesVersion : seriesVersion(incident);
}
