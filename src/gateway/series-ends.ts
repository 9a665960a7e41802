import type { Deduplication, IncidentSeries } from "../resources/index.ts";

/** Of one fingerprint. Beyond that the earliest end is forgotten: a report that is as late as that is rare. */
const maxEnds = 256;

/** The latest end of each series, by fingerprint: what all incidents of it say, however many are kept. */
export class SeriesEnds {
  readonly #ends = new Map<string, Record<string, IncidentSeries>>();

  note(fingerprint: string, series: Deduplication["series"] = {}): void {
    for (const key in series) {
      const one = series[key];
      if (one?.resolvedAt !== undefined) this.#noteEnd(fingerprint, key, one.firingAt, one.resolvedAt);
    }
  }

  /** As an incident stores them. */
  of(fingerprint: string): Deduplication["series"] {
    return this.#ends.get(fingerprint);
  }

  forget(fingerprint: string): void {
    this.#ends.delete(fingerprint);
  }

  #noteEnd(fingerprint: string, key: string, firingAt: string, resolvedAt: string) {
    const known = this.#ends.get(fingerprint) ?? {};
    this.#ends.set(fingerprint, known);
    if ((known[key]?.resolvedAt ?? "") >= resolvedAt) return;
    known[key] = { firingAt, resolvedAt };
    const keys = Object.keys(known);
    if (keys.length <= maxEnds) return;
    const endOf = (one: string) => known[one]?.resolvedAt ?? "";
    delete known[keys.reduce((earliest, one) => (endOf(one) < endOf(earliest) ? one : earliest))];
  }
}
