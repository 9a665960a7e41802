/** The latest analysis of an incident. */
export interface Analyzed {
  /** The change since which the diagnosis was outdated, when the analysis began; undefined if it was not. */
  readonly change: number | undefined;
  /** The version of the incident that was analyzed: see `analysisVersion`. */
  readonly version: string;
  /** When it has to be repeated because facts of objects may have changed. */
  readonly recheckAtMs?: number | undefined;
}

/**
 * The incidents whose diagnosis, or lack of one, may be outdated: because rules or catalog changed, because this process has
 * not analyzed them yet, because their series changed since the analysis, or because facts have to be read again. Each is
 * analyzed once per change: replicas with different rules do not overwrite each other's diagnoses again and again.
 */
export class OutdatedDiagnoses {
  readonly #changes = new Map<string, number>();
  /** The analyzed versions. The empty one, which most incidents with a diagnosis have, needs no entry. */
  readonly #versions = new Map<string, string>();
  readonly #recheckAtMs = new Map<string, number>();
  #latest = 0;

  add(keys: readonly string[]): void {
    this.#latest += 1;
    for (const key of keys) this.#changes.set(key, this.#latest);
  }

  /** The change since which the diagnosis is outdated; undefined if it is not. */
  changeOf(key: string): number | undefined {
    return this.#changes.get(key);
  }

  /** When the latest analysis has to be repeated; undefined if it does not depend on facts. */
  recheckAtMs(key: string): number | undefined {
    return this.#recheckAtMs.get(key);
  }

  /** Whether the incident, which has `version` now, has to be analyzed again. */
  isOutdated(key: string, version: string, nowMs: number): boolean {
    const isDue = nowMs >= (this.#recheckAtMs.get(key) ?? Infinity);
    return isDue || this.#changes.has(key) || (this.#versions.get(key) ?? "") !== version;
  }

  /** Drops a deleted incident. */
  forget(key: string): void {
    this.#changes.delete(key);
    this.#versions.delete(key);
    this.#recheckAtMs.delete(key);
  }

  /** Nothing is left to do after the latest analysis. A later change keeps the incident outdated. */
  settle(key: string, { change, version, recheckAtMs }: Analyzed): void {
    if (this.#changes.get(key) === change) this.#changes.delete(key);
    if (version === "") this.#versions.delete(key);
    else this.#versions.set(key, version);
    if (recheckAtMs === undefined) this.#recheckAtMs.delete(key);
    else this.#recheckAtMs.set(key, recheckAtMs);
  }
}
