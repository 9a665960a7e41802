import { hash } from "node:crypto";
import type {
  Deduplication,
  IncidentSeries,
  RemediationRequest,
  RemediationRequestSpec,
} from "../kinds/remediation-request.ts";
import { annotationKeys } from "../names.ts";
import type { Signal } from "./signal.ts";

/** A firing series, described by its latest signal. Without a description, that of the first signal applies. */
export type FiringSeries = Pick<Signal, "firingAt"> &
  (
    | (Pick<Signal, "severity" | "labels" | "annotations"> & {
        /** The object that it names, in canonical form. */
        readonly subject: string;
      })
    | { readonly severity?: never }
  );

/** The signal that an incident was opened with. */
export type FirstSignal = Pick<RemediationRequestSpec, "severity" | "signalLabels" | "signalAnnotations"> & {
  /** The object that it named, in canonical form. */
  readonly subject: string | undefined;
};

export function firstSignal({ spec, metadata }: Pick<RemediationRequest, "spec" | "metadata">): FirstSignal {
  return { ...spec, subject: metadata.annotations?.[annotationKeys.subject] };
}

/** In characters of JSON, for one series. An incident has up to 64 of them, and the size of an object is limited. */
const maxSeriesLength = 4_096;

/** The stored form of a series: only its differences from the first signal. Nearly all labels are the same. */
export function toIncidentSeries(reported: FiringSeries, first: FirstSignal): IncidentSeries {
  const { firingAt, severity } = reported;
  if (severity === undefined) return { firingAt };
  const labels = differences(reported.labels, first.signalLabels ?? {});
  const annotations = differences(reported.annotations, first.signalAnnotations ?? {});
  const { subject } = reported;
  const common = { firingAt, ...(severity === first.severity ? {} : { severity }) };
  const described = {
    ...common,
    ...(subject === first.subject ? {} : { subject }),
    ...(labels.changed && { labels: labels.changed }),
    ...(labels.missing && { withoutLabels: labels.missing }),
    ...(annotations.changed && { annotations: annotations.changed }),
    ...(annotations.missing && { withoutAnnotations: annotations.missing }),
  };
  return JSON.stringify(described).length <= maxSeriesLength ? described : { ...common, isTooLarge: true };
}

type Texts = Readonly<Record<string, string>>;

function differences(texts: Texts, first: Texts): { changed?: Texts; missing?: readonly string[] } {
  const changed = Object.entries(texts).filter(([name, text]) => !Object.hasOwn(first, name) || first[name] !== text);
  const missing = Object.keys(first).filter((name) => !Object.hasOwn(texts, name));
  return {
    ...(changed.length > 0 && { changed: Object.fromEntries(changed) }),
    ...(missing.length > 0 && { missing }),
  };
}

/** The highest severity among the series that fire; that of the first signal if no series is known. */
export function highestSeverity(series: Deduplication["series"], first: Pick<FirstSignal, "severity">): string {
  let highest: string | undefined;
  for (const one of Object.values(series ?? {})) {
    if (one.resolvedAt !== undefined) continue;
    const severity = one.severity ?? first.severity;
    if (severity === highest) continue;
    if (highest === undefined || severityRank(severity) > severityRank(highest)) highest = severity;
  }
  return highest ?? first.severity;
}

/** The severity that counts for an incident. */
export function incidentSeverity({ spec, status }: Pick<RemediationRequest, "spec" | "status">): string {
  return status?.deduplication?.severity ?? spec.severity;
}

/** An incident, described by one of its series. */
export interface SeriesView {
  readonly spec: RemediationRequestSpec;
  /** The object that the series names, in canonical form. */
  readonly subject: string | undefined;
}

/**
 * The views of an incident for the rules, one for each firing series: the most severe first, then the oldest. All have the
 * highest severity. Series that are too large to be stored are left out.
 */
export function* viewsBySeries(
  incident: Pick<RemediationRequest, "spec" | "status" | "metadata">,
): Generator<SeriesView> {
  const { spec } = incident;
  const { subject } = firstSignal(incident);
  const severity = incidentSeverity(incident);
  const firing = firingSeries(incident).filter(({ isTooLarge }) => !isTooLarge);
  if (firing.length === 0) yield { spec: { ...spec, severity }, subject };
  for (const one of firing) {
    const described = {
      ...spec,
      severity,
      ...((spec.signalLabels || one.labels) && { signalLabels: seriesLabels(one, spec) }),
      ...((spec.signalAnnotations || one.annotations) && {
        signalAnnotations: applyChanges(spec.signalAnnotations, one.annotations, one.withoutAnnotations),
      }),
    };
    yield { spec: described, subject: one.subject ?? subject };
  }
}

/** The labels of a stored series. */
export function seriesLabels(
  { labels, withoutLabels }: IncidentSeries,
  { signalLabels }: Pick<FirstSignal, "signalLabels">,
): Texts {
  return applyChanges(signalLabels, labels, withoutLabels);
}

function applyChanges(first: Texts = {}, changed: Texts = {}, missing: readonly string[] = []): Texts {
  const result: Record<string, string> = { ...first, ...changed };
  for (const name of missing) delete result[name];
  return result;
}

/**
 * A hash of the result of `viewsBySeries`; empty if that is only the first signal. An evaluation of the rules with another
 * version is outdated.
 */
export function seriesVersion(incident: Pick<RemediationRequest, "spec" | "status">): string {
  const severity = incidentSeverity(incident);
  const firing = firingSeries(incident).map(differing);
  if (severity === incident.spec.severity && firing.every((fields) => fields.every((field) => field === undefined)))
    return "";
  return hash("sha256", JSON.stringify([severity, firing])).slice(0, 16);
}

/** The fields by which a series differs from the first signal. Their order is part of the versions that are recorded. */
function differing(series: IncidentSeries): readonly unknown[] {
  const { severity, subject, labels, withoutLabels, annotations, withoutAnnotations, isTooLarge } = series;
  const all = { severity, subject, labels, withoutLabels, annotations, withoutAnnotations, isTooLarge };
  return Object.values(all satisfies Record<Exclude<keyof IncidentSeries, "firingAt" | "resolvedAt">, unknown>);
}

/** The most severe first, then the oldest. */
function firingSeries({ spec, status }: Pick<RemediationRequest, "spec" | "status">): readonly IncidentSeries[] {
  const firing = Object.values(status?.deduplication?.series ?? {}).filter(
    ({ resolvedAt }) => resolvedAt === undefined,
  );
  const firstRank = severityRank(spec.severity);
  const rank = ({ severity }: IncidentSeries) => (severity === undefined ? firstRank : severityRank(severity));
  return firing.sort((one, other) => rank(other) - rank(one) || compareTexts(one.firingAt, other.firingAt));
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** In characters, of the series that a cache keeps with an incident. A character takes about two bytes. */
const maxCachedLength = 500;
/** Of a series without any text: its key and its times. */
const bareSeriesLength = 100;

/** Whether caches keep the series of an incident. Each open incident may have 64 of 4 KiB, so they keep only small ones. */
export function hasSmallSeries({ status }: Pick<RemediationRequest, "status">): boolean {
  const { series } = status?.deduplication ?? {};
  let length = 0;
  for (const key in series) {
    const { labels, annotations, subject = "" } = series[key] as IncidentSeries;
    length += bareSeriesLength + subject.length + textsLength(labels) + textsLength(annotations);
    if (length > maxCachedLength) return false;
  }
  return true;
}

function textsLength(texts: Texts = {}): number {
  let length = 0;
  for (const name in texts) length += name.length + (texts[name] as string).length;
  return length;
}

export function withoutSeries(incident: RemediationRequest): RemediationRequest {
  const { status } = incident;
  if (!status?.deduplication?.series) return incident;
  const { series: _, ...deduplication } = status.deduplication;
  return { ...incident, status: { ...status, deduplication } };
}

/** Ranks of common severities; a larger rank is more severe. Senders choose their own words: an unknown one ranks as `warning`. */
const ranks: ReadonlyMap<string, number> = new Map(
  [
    ["none", "ok", "normal", "resolved", "debug"],
    ["info", "information", "informational", "notice", "low", "p5", "sev5"],
    ["warning", "warn", "minor", "medium", "average", "p4", "p3", "sev4", "sev3"],
    ["error", "high", "major", "p2", "sev2"],
    ["critical", "crit", "fatal", "page", "alert", "disaster", "p1", "sev1"],
    ["emergency", "p0", "sev0"],
  ].flatMap((words, rank) => words.map((word) => [word, rank] as const)),
);

const unknownRank = 2;

/** A larger rank is more severe. */
export function severityRank(severity: string): number {
  return ranks.get(severity.toLowerCase()) ?? unknownRank;
}
