import {
  annotationKeys,
  type Deduplication,
  type Diagnosis,
  type RemediationRequest,
  type RemediationRequestStatus,
} from "../../resources/index.ts";

/** Whether the incident was reduced to the fields that later incidents of its fingerprint and `interlock why` need. */
export function isTombstone({ metadata }: RemediationRequest): boolean {
  return metadata.annotations?.[annotationKeys.tombstone] === "true";
}

/**
 * Returns the status of a tombstone: outcome, target and number of reports. The ends of its series are dropped, as with every
 * incident that is deleted at that age: a later signal opens another incident.
 */
export function tombstoneStatus(status: RemediationRequestStatus): RemediationRequestStatus {
  const { deduplication, diagnosis, executionRefs, follows: _follows, recurredAt: _recurredAt, ...rest } = status;
  return {
    ...rest,
    ...(diagnosis && { diagnosis: withoutDetails(diagnosis) }),
    ...(deduplication && { deduplication: withoutSeries(deduplication) }),
    ...(executionRefs && { executionRefs: executionRefs.slice(-1) }),
  } as RemediationRequestStatus;
}

function withoutDetails({ parameters: _parameters, deferWhile: _deferWhile, ...diagnosis }: Diagnosis): Diagnosis {
  return diagnosis;
}

/** Adds the counts of all gateways into one, so that their sum stays the same. */
function withoutSeries(deduplication: Deduplication): Deduplication {
  const { series: _series, hasMoreSeries: _hasMore, occurrencesByWriter, ...counted } = deduplication;
  if (!occurrencesByWriter) return counted;
  return { ...counted, occurrencesByWriter: { [anyWriter]: counted.occurrenceCount } };
}

/** Replaces the names of gateways. */
const anyWriter = "tombstone";
