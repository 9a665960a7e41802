import {
  annotationKeys,
  type Deduplication,
  type Diagnosis,
  type RemediationRequest,
  type RemediationRequestStatus,
} from "../../resources/index.ts";

/** Whether the incident was reduced to what the next one of its fingerprint, and an operator who asks why, still need. */
export function isTombstone({ metadata }: RemediationRequest): boolean {
  return metadata.annotations?.[annotationKeys.tombstone] === "true";
}

/**
 * The status of a tombstone: how the incident ended, on what, and how often it was reported. The ends of its series are
 * forgotten, as they are with every incident that is deleted at that age: a signal that comes even later opens another.
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

/** All gateways' figures become one, so that the sum of figures stays what it was. */
function withoutSeries(deduplication: Deduplication): Deduplication {
  const { series: _series, hasMoreSeries: _hasMore, occurrencesByWriter, ...counted } = deduplication;
  if (!occurrencesByWriter) return counted;
  return { ...counted, occurrencesByWriter: { [anyWriter]: counted.occurrenceCount } };
}

/** In place of the names of gateways. */
const anyWriter = "tombstone";
