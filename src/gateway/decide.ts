import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type Deduplication,
  type FiringSeries,
  type FirstSignal,
  highestSeverity,
  type IncidentSeries,
  incidentNumber,
  isClosedIncident,
  type RemediationRequest,
  type Signal,
  severityRank,
  toIncidentSeries,
} from "../resources/index.ts";
import type { Report } from "./identity/report.ts";

export type FiringDecision =
  | { readonly do: "count"; readonly incident: RemediationRequest }
  | { readonly do: "open"; readonly n: number }
  | { readonly do: "ignore"; readonly because: string };

/**
 * `newest` is the incident of this fingerprint with the largest number. The series may have ended in one of the `earlier`
 * ones, and the newest was opened by another. `earlier` also has the series of the fingerprint that the signal had before.
 */
export function decideFiring(
  newest: RemediationRequest | undefined,
  report: Report,
  earlier: readonly Deduplication["series"][] = [],
): FiringDecision {
  let endedAt = endOfSeries(newest?.status?.deduplication?.series, report.signal);
  if (!newest || isClosedIncident(newest)) for (const series of earlier) endedAt ??= endOfSeries(series, report.signal);
  if (endedAt !== undefined) return { do: "ignore", because: hadEnded(endedAt) };
  const known = [newest?.status?.deduplication?.series, ...earlier];
  if (report.signal.isOccurrence && known.some((series) => hasOccurrence(series, report.signal)))
    return { do: "ignore", because: `what happened at ${report.signal.firingAt} was reported before` };
  if (!newest) return { do: "open", n: 1 };
  if (!isClosedIncident(newest)) return { do: "count", incident: newest };
  return { do: "open", n: (incidentNumber(report.fingerprint, newest.metadata.name ?? "") ?? 0) + 1 };
}

/** The reason to ignore a signal that arrives after the end of its series. */
export function hadEnded(endedAt: string): string {
  return `it had ended at ${endedAt}, which is not before it began to fire`;
}

/** The end of the signal's series, unless it is before the signal began to fire. Hashes the key only if some series ended later. */
function endOfSeries(series: Deduplication["series"], signal: Signal): string | undefined {
  const isLater = ({ resolvedAt }: { readonly resolvedAt?: string }) =>
    resolvedAt !== undefined && signal.firingAt <= resolvedAt;
  if (!series || !Object.values(series).some(isLater)) return undefined;
  const own = series[seriesKey(signal)];
  return own && isLater(own) ? own.resolvedAt : undefined;
}

/** Whether the status has this occurrence, or a later one. It is passed again after a restart, or arrives by two paths. */
function hasOccurrence(series: Deduplication["series"], signal: Signal): boolean {
  const own = series?.[seriesKey(signal)];
  return own !== undefined && signal.firingAt <= own.firingAt;
}

/** The name of a series in a status. */
export function seriesKey({ series }: Pick<Signal, "series">): string {
  return hash("sha256", series).slice(0, 16);
}

/** More series than this are counted, but not distinguished. */
export const maxSeries = 64;

/** The absolute counts of one gateway for one incident. */
export interface Count {
  readonly writer: string;
  readonly count: number;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  /** The series that fire, by their keys. */
  readonly firing: ReadonlyMap<string, FiringSeries>;
}

/** The part of an incident's status that is the gateway's. */
export interface CountedStatus {
  readonly deduplication: Deduplication;
  /** When the last series ended. Absent while one fires. */
  readonly resolvedAt?: string;
}

type Before = { readonly deduplication?: Deduplication; readonly resolvedAt?: string } | undefined;

/** Adds `counted`; series are stored as differences from the `first` signal. Idempotent, and independent of the order in which gateways write. */
export function withCount(before: Before, counted: Count, first: FirstSignal): CountedStatus {
  const known = before?.deduplication;
  const earlier = known?.occurrencesByWriter ?? {};
  const own = Math.max(earlier[counted.writer] ?? 0, counted.count);
  const occurrencesByWriter = { ...earlier, [counted.writer]: own };
  let occurrenceCount = 0;
  for (const writer in occurrencesByWriter) occurrenceCount += occurrencesByWriter[writer] ?? 0;

  const series: Series = { ...known?.series };
  let hasMoreSeries = known?.hasMoreSeries ?? false;
  for (const [key, reported] of counted.firing) {
    if (!fire(series, key, reported, first)) hasMoreSeries = true;
  }
  const fires = Object.values(series).some(({ resolvedAt }) => resolvedAt === undefined);
  return {
    deduplication: {
      firstSeenAt: earliest(known?.firstSeenAt, counted.firstSeenAt),
      lastSeenAt: latest(known?.lastSeenAt, counted.lastSeenAt),
      occurrenceCount,
      occurrencesByWriter,
      ...(Object.keys(series).length > 0 ? { series } : {}),
      ...(hasMoreSeries && { hasMoreSeries }),
      severity: highestSeverity(series, first),
    },
    ...(before?.resolvedAt !== undefined && !fires ? { resolvedAt: before.resolvedAt } : {}),
  };
}

/** The status after the end of one series: resolved, unless another one still fires. */
export function withEnd(
  before: Before,
  signal: Signal,
  nowAt: string,
  first: Pick<FirstSignal, "severity">,
): CountedStatus {
  const known = before?.deduplication;
  const series: Series = { ...known?.series };
  const key = seriesKey(signal);
  const own = series[key];
  // Without an end by the sender's own clock, the end covers the firings so far and none that begins later.
  const endedAt = signal.endedAt ?? latest(own?.firingAt, signal.firingAt);
  const { firingAt = signal.firingAt, resolvedAt = endedAt } = own ?? {};
  // A series that began to fire again after this end still fires.
  const hasBegunAgain = own !== undefined && own.resolvedAt === undefined && firingAt > endedAt;
  if (!hasBegunAgain) {
    makeRoom(series, key);
    series[key] = { ...own, firingAt: earliest(firingAt, endedAt), resolvedAt: latest(resolvedAt, endedAt) };
  }
  const fires = Object.values(series).some((one) => one.resolvedAt === undefined);
  const deduplication = known ?? { firstSeenAt: nowAt, lastSeenAt: nowAt, occurrenceCount: 0 };
  return {
    deduplication: { ...deduplication, series, severity: highestSeverity(series, first) },
    ...(fires ? {} : { resolvedAt: latest(before?.resolvedAt, signal.endedAt ?? nowAt) }),
  };
}

type Series = Record<string, IncidentSeries>;

/** Adds a firing series. False if not all firing series can be listed. */
function fire(series: Series, key: string, reported: FiringSeries, first: FirstSignal): boolean {
  const known = series[key];
  const { firingAt } = reported;
  // A late report of a series that has ended meanwhile.
  if (known?.resolvedAt !== undefined && firingAt <= known.resolvedAt) return true;
  if (known && known.resolvedAt === undefined) {
    if (known.firingAt > firingAt) return true;
    if (known.firingAt === firingAt && reported.severity === undefined) return true;
  }
  const next = toIncidentSeries(reported, first);
  // The stored object stays the same while nothing changes, so that only changes are written.
  if (known && isDeepStrictEqual(known, next)) return true;
  if (makeRoom(series, key)) {
    series[key] = next;
    return true;
  }
  const rankOf = (one: IncidentSeries) => severityRank(one.severity ?? first.severity);
  const least = leastBy(Object.keys(series), (other) => rankOf(series[other] as IncidentSeries));
  if (least !== undefined && rankOf(series[least] as IncidentSeries) < rankOf(next)) {
    delete series[least];
    series[key] = next;
  }
  return false;
}

/** Makes room for `key` by removing a series that has ended. False if there is no room. */
function makeRoom(series: Series, key: string): boolean {
  if (key in series || Object.keys(series).length < maxSeries) return true;
  const ended = Object.keys(series).find((one) => series[one]?.resolvedAt !== undefined);
  if (ended === undefined) return false;
  delete series[ended];
  return true;
}

function leastBy<T>(items: readonly T[], rankOf: (item: T) => number): T | undefined {
  return items.reduce<T | undefined>((least, one) => (least && rankOf(least) <= rankOf(one) ? least : one), undefined);
}

// All times are RFC 3339 in UTC with milliseconds, so they compare as text.
function earliest(one: string | undefined, other: string): string {
  return one !== undefined && one < other ? one : other;
}

function latest(one: string | undefined, other: string): string {
  return one !== undefined && one > other ? one : other;
}
