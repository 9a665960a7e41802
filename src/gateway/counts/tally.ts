import { type FiringSeries, type RemediationRequest, type Signal, severityRank } from "../../resources/index.ts";
import { type Count, maxSeries, seriesKey } from "../decide.ts";
import type { Report } from "../identity/report.ts";

/** The stored form of a tally. */
export interface KeptTally {
  readonly uid: string;
  readonly name: string;
  readonly count: number;
  /** The part of `count` that is in the status of this incident or of another. */
  readonly written: number;
  /** The part of `count` that the incident was opened with, if this gateway opened it. */
  readonly opened?: number;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly firing: readonly (readonly [key: string, firingAt: string])[];
  /** The counts that were moved here from the tallies of other incidents, by their uids. */
  readonly moved?: readonly (readonly [uid: string, count: number])[];
  /** The latest signal that changed a series. */
  readonly report: Report;
  /** The latest signals of other series, the oldest first. */
  readonly others?: readonly Report[];
}

/** The maximum number of stored reports. Another incident can be opened with them after a crash. */
const maxReports = 16;

/** One signal, or the counts of a closed incident. */
export interface Addition {
  readonly occurrences: number;
  readonly from?: { readonly tally: Tally; readonly counted: Pick<Count, "count" | "firing"> };
}

/** The counts of one gateway for one incident. They only increase, so a repeated write is harmless. */
export class Tally {
  readonly uid: string;
  /** Of the incident. */
  readonly name: string;
  #count: number;
  /** The part of the count that is in the incident's status. */
  #written: number;
  #opened: number;
  #firstSeenAt: string;
  #lastSeenAt: string;
  /** Series that the status may lack, or have in an older state. */
  readonly #firing: Map<string, FiringSeries>;
  /** The signal that last changed each series, the latest last. Nearly every signal repeats one of these. */
  readonly #lastReports: Map<string, Report>;
  /** The latest signal that changed a series. */
  #report: Report;
  readonly #moved: Map<string, number>;
  /** Increases with each `report`, so that the occurrence log stores it only when it changed. */
  #edition = 1;
  writing: Promise<unknown> | undefined;
  /** The incident after the last write, with all its series, so that it need not be read before the next one. */
  latest: RemediationRequest | undefined;

  constructor({
    uid,
    name,
    count,
    written,
    opened = 0,
    firstSeenAt,
    lastSeenAt,
    firing,
    moved = [],
    report,
    others = [],
  }: KeptTally) {
    this.uid = uid;
    this.name = name;
    this.#count = count;
    this.#written = written;
    this.#opened = opened;
    this.#firstSeenAt = firstSeenAt;
    this.#lastSeenAt = lastSeenAt;
    this.#firing = new Map(restoreFiring(firing, [...others, report]));
    this.#moved = new Map(moved);
    this.#report = report;
    this.#lastReports = new Map(others.map((other) => [other.signal.series, other]));
  }

  /** Continues from the count of this gateway in the status, which may be from before a restart. */
  static of({ metadata, status }: RemediationRequest, report: Report, writer: string): Tally {
    const count = status?.deduplication?.occurrencesByWriter?.[writer] ?? 0;
    const { uid = "", name = "" } = metadata;
    const seenAt = report.receivedAt;
    return new Tally({ uid, name, count, written: count, firstSeenAt: seenAt, lastSeenAt: seenAt, firing: [], report });
  }

  get count(): number {
    return this.#count;
  }

  get written(): number {
    return this.#written;
  }

  /** Counts that the incident was opened with. They are never moved, even if it is closed before they are written. */
  get opened(): number {
    return this.#opened;
  }

  get report(): Report {
    return this.#report;
  }

  /** Reports to open another incident with: the latest signal of each series, the latest of all first. */
  get reports(): readonly Report[] {
    const others = [...this.#lastReports.values()].filter((report) => report !== this.#report);
    return [this.#report, ...others.reverse()].slice(0, maxReports);
  }

  get edition(): number {
    return this.#edition;
  }

  get lastSeenAt(): string {
    return this.#lastSeenAt;
  }

  /** How many occurrences are not in the incident's status yet. */
  get unwritten(): number {
    return this.#count - this.#written;
  }

  /** Whether counts or series are not in the incident's status yet. */
  get hasNews(): boolean {
    return this.unwritten > 0 || this.hasSeriesNews;
  }

  get hasSeriesNews(): boolean {
    return this.#firing.size > 0;
  }

  add(report: Report, { occurrences, from }: Addition): void {
    this.#count += occurrences;
    if (from) this.#takeOver(from);
    if (report.receivedAt > this.#lastSeenAt) this.#lastSeenAt = report.receivedAt;
    const { signal } = report;
    if (!isNews(signal, this.#lastReports.get(signal.series)?.signal)) return;
    // Beyond the limit of the status, series are counted without being distinguished.
    if (this.#lastReports.size >= maxSeries) this.#lastReports.clear();
    const key = seriesKey(signal);
    if (!this.#hasRoomFor(key, signal)) return;
    this.#lastReports.delete(signal.series);
    this.#lastReports.set(signal.series, report);
    this.#firing.set(key, toFiringSeries(report));
    this.#report = report;
    this.#edition++;
  }

  /** A more severe series replaces a less severe one. */
  #hasRoomFor(key: string, { severity }: Signal): boolean {
    if (this.#firing.has(key) || this.#firing.size < maxSeries) return true;
    const rank = severityRank(severity);
    for (const [other, series] of this.#firing) {
      if (series.severity !== undefined && severityRank(series.severity) < rank) return this.#firing.delete(other);
    }
    return false;
  }

  noteOpened(occurrences: number): void {
    this.#opened = occurrences;
    this.#edition++;
  }

  /** Moved counts are stored in one record with our own: with two records, a crash in between would lose or duplicate them. */
  #takeOver({ tally, counted }: NonNullable<Addition["from"]>) {
    this.#moved.set(tally.uid, counted.count);
    this.#edition++;
  }

  countOf(writer: string): Count {
    return {
      writer,
      count: this.#count,
      firstSeenAt: this.#firstSeenAt,
      lastSeenAt: this.#lastSeenAt,
      firing: new Map(this.#firing),
    };
  }

  /** The status of this incident or of another has these counts and series. */
  noteWritten({ count, firing }: Pick<Count, "count" | "firing">): void {
    this.#written = Math.max(this.#written, count);
    for (const [key, series] of firing) if (this.#firing.get(key) === series) this.#firing.delete(key);
  }

  toKept(): KeptTally {
    const [report = this.#report, ...others] = this.reports;
    return {
      uid: this.uid,
      name: this.name,
      count: this.#count,
      written: this.#written,
      opened: this.#opened,
      firstSeenAt: this.#firstSeenAt,
      lastSeenAt: this.#lastSeenAt,
      firing: [...this.#firing].map(([key, { firingAt }]) => [key, firingAt] as const),
      ...(this.#moved.size > 0 && { moved: [...this.#moved] }),
      report,
      ...(others.length > 0 ? { others: others.reverse() } : {}),
    };
  }
}

/** Whether a signal changes a known series. A late report does not. */
function isNews(signal: Signal, before: Signal | undefined): boolean {
  if (before === undefined || before.firingAt < signal.firingAt) return true;
  if (before.firingAt > signal.firingAt) return false;
  return before.severity !== signal.severity || !hasSameTexts(before.labels, signal.labels);
}

function hasSameTexts(one: Signal["labels"], other: Signal["labels"]): boolean {
  let names = 0;
  for (const name in one) {
    if (one[name] !== other[name]) return false;
    names++;
  }
  return names === Object.keys(other).length;
}

function toFiringSeries({ subject, signal: { firingAt, severity, labels, annotations } }: Report): FiringSeries {
  return { firingAt, severity, subject, labels, annotations };
}

/** Series without a stored report have only their firing time until their next signal. */
function restoreFiring(firing: KeptTally["firing"], reports: readonly Report[]) {
  const described = new Map(reports.map((report) => [seriesKey(report.signal), report]));
  return firing.map(([key, firingAt]) => {
    const report = described.get(key);
    return [key, report ? { ...toFiringSeries(report), firingAt } : { firingAt }] as const;
  });
}

/** Port: stores counts until the API server has them. */
export interface OccurrenceLog {
  /** The counts of an earlier process that the API server may not have. */
  readonly left: readonly Tally[];
  /** Resolves when the current state of all `tallies` is durable. Throws GatewayError `unavailable` if it may not be. */
  keep(tallies: Iterable<Tally>): Promise<void>;
  /** The incident's status has the current state of `tally`, which is stored later. */
  settle(tally: Tally): void;
  close(): Promise<void>;
}
