import { createHash } from "node:crypto";
import { type Deduplication, incidentNumber, type RemediationRequest, type Signal } from "../resources/index.ts";
import { isOpen, type Report } from "./report.ts";

/** What to do about a signal that fires. */
export type FiringDecision =
  | { readonly do: "count"; readonly incident: RemediationRequest }
  | { readonly do: "open"; readonly n: number }
  | { readonly do: "ignore"; readonly because: string };

/**
 * `newest` is the incident of this fingerprint with the largest number. The series may have ended in one of the `earlier`
 * ones, and the newest was opened by another. `earlier` also has those of the fingerprint that the signal had before.
 */
export function decideFiring(
  newest: RemediationRequest | undefined,
  report: Report,
  earlier: readonly RemediationRequest[] = [],
): FiringDecision {
  const endedAt = [...(newest ? [newest] : []), ...(newest && isOpen(newest) ? [] : earlier)]
    .map(({ status }) => endOfSeries(status?.deduplication?.series, report.signal))
    .find((end) => end !== undefined);
  if (endedAt !== undefined) {
    return { do: "ignore", because: `it had ended at ${endedAt}, which is not before it began to fire` };
  }
  if (!newest) return { do: "open", n: 1 };
  if (isOpen(newest)) return { do: "count", incident: newest };
  return { do: "open", n: (incidentNumber(report.fingerprint, newest.metadata.name ?? "") ?? 0) + 1 };
}

/** When this very signal was over, if it is: nearly always none of the ends comes after its beginning. */
function endOfSeries(series: Deduplication["series"], signal: Signal): string | undefined {
  const isLater = ({ resolvedAt }: { readonly resolvedAt?: string }) =>
    resolvedAt !== undefined && signal.firingAt <= resolvedAt;
  if (!series || !Object.values(series).some(isLater)) return undefined;
  const own = series[seriesKey(signal)];
  return own && isLater(own) ? own.resolvedAt : undefined;
}

/** The name of a series in a status. */
export function seriesKey({ series }: Pick<Signal, "series">): string {
  return createHash("sha256").update(series).digest("hex").slice(0, 16);
}

/** More series than this are counted, but not told apart. */
export const mostSeries = 64;

/** What one gateway counted of one incident, in absolute figures. */
export interface Count {
  readonly writer: string;
  readonly count: number;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  /** Since when each series fires, by its key. */
  readonly firing: ReadonlyMap<string, string>;
}

/** The part of an incident's status that is the gateway's. */
export interface CountedStatus {
  readonly deduplication: Deduplication;
  /** When the last series ended. Absent while one fires. */
  readonly resolvedAt?: string;
}

type Before = { readonly deduplication?: Deduplication; readonly resolvedAt?: string } | undefined;

/** Adds what `counted` says. Saying it twice changes nothing, and neither does the order in which gateways say theirs. */
export function withCount(before: Before, counted: Count): CountedStatus {
  const known = before?.deduplication;
  const earlier = known?.occurrencesByWriter ?? {};
  const own = Math.max(earlier[counted.writer] ?? 0, counted.count);
  const occurrencesByWriter = { ...earlier, [counted.writer]: own };
  let occurrenceCount = 0;
  for (const writer in occurrencesByWriter) occurrenceCount += occurrencesByWriter[writer] ?? 0;

  const series: Series = { ...known?.series };
  for (const [key, firingAt] of counted.firing) fire(series, key, firingAt);
  const fires = Object.values(series).some(({ resolvedAt }) => resolvedAt === undefined);
  return {
    deduplication: {
      firstSeenAt: earliest(known?.firstSeenAt, counted.firstSeenAt),
      lastSeenAt: latest(known?.lastSeenAt, counted.lastSeenAt),
      occurrenceCount,
      occurrencesByWriter,
      ...(Object.keys(series).length > 0 ? { series } : {}),
    },
    ...(before?.resolvedAt !== undefined && !fires ? { resolvedAt: before.resolvedAt } : {}),
  };
}

/** The status after the end of one series: over, unless another one still fires. */
export function withEnd(before: Before, signal: Signal, nowAt: string): CountedStatus {
  const known = before?.deduplication;
  const series: Series = { ...known?.series };
  const key = seriesKey(signal);
  const own = series[key];
  // Without an end of the sender's own clock, what is over is what began until now, and nothing that begins later.
  const endedAt = signal.endedAt ?? latest(own?.firingAt, signal.firingAt);
  const { firingAt = signal.firingAt, resolvedAt = endedAt } = own ?? {};
  // A series that began to fire again after this end is not over.
  const hasBegunAgain = own !== undefined && own.resolvedAt === undefined && firingAt > endedAt;
  if (!hasBegunAgain) {
    makeRoom(series, key);
    series[key] = { firingAt: earliest(firingAt, endedAt), resolvedAt: latest(resolvedAt, endedAt) };
  }
  const fires = Object.values(series).some((one) => one.resolvedAt === undefined);
  const deduplication = known ?? { firstSeenAt: nowAt, lastSeenAt: nowAt, occurrenceCount: 0 };
  return {
    deduplication: { ...deduplication, series },
    ...(fires ? {} : { resolvedAt: latest(before?.resolvedAt, signal.endedAt ?? nowAt) }),
  };
}

type Series = Record<string, { readonly firingAt: string; readonly resolvedAt?: string }>;

function fire(series: Series, key: string, firingAt: string) {
  const known = series[key];
  // An old report of what has ended since.
  if (known?.resolvedAt !== undefined && firingAt <= known.resolvedAt) return;
  if (known && known.resolvedAt === undefined && known.firingAt >= firingAt) return;
  if (!makeRoom(series, key)) return;
  series[key] = { firingAt };
}

/** Whether there is room for `key`; a series that is over gives way to it. */
function makeRoom(series: Series, key: string): boolean {
  if (key in series || Object.keys(series).length < mostSeries) return true;
  const over = Object.keys(series).find((one) => series[one]?.resolvedAt !== undefined);
  if (over === undefined) return false;
  delete series[over];
  return true;
}

// All of them are RFC 3339 in UTC with milliseconds, so that text compares as time.
function earliest(one: string | undefined, other: string): string {
  return one !== undefined && one < other ? one : other;
}

function latest(one: string | undefined, other: string): string {
  return one !== undefined && one > other ? one : other;
}
