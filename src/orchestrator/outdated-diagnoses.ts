/**
 * The incidents whose diagnosis may be outdated: because rules or catalog changed, because this process has just started, or
 * because their series are others than when they were diagnosed. Each is diagnosed again once per change: replicas that
 * have different rules for a while do not overwrite each other's diagnoses again and again.
 */
export class OutdatedDiagnoses {
  readonly #changes = new Map<string, number>();
  /** The version of the series with which an incident was diagnosed; an incident of one series needs no entry. */
  readonly #series = new Map<string, string>();
  #latest = 0;

  add(keys: readonly string[]): void {
    this.#latest += 1;
    for (const key of keys) this.#changes.set(key, this.#latest);
  }

  /** The change since which the diagnosis is outdated; undefined if it is not. */
  changeOf(key: string): number | undefined {
    return this.#changes.get(key);
  }

  /** Whether the incident, whose series have version `series` now, has to be diagnosed again. */
  isOutdated(key: string, series: string): boolean {
    return this.#changes.has(key) || (this.#series.get(key) ?? "") !== series;
  }

  /** The incident is gone. */
  forget(key: string): void {
    this.#changes.delete(key);
    this.#series.delete(key);
  }

  /** Diagnosed again as of `change`, with version `series` of its series. A later change keeps it outdated. */
  settle(key: string, change: number | undefined, series: string): void {
    if (this.#changes.get(key) === change) this.#changes.delete(key);
    if (series === "") this.#series.delete(key);
    else this.#series.set(key, series);
  }
}
