/**
 * The incidents whose diagnosis may be outdated, because rules or catalog changed or this process has just started. Each is
 * diagnosed again once per change: replicas that have different rules for a while do not overwrite each other's diagnoses
 * again and again.
 */
export class OutdatedDiagnoses {
  readonly #changes = new Map<string, number>();
  #latest = 0;

  add(keys: readonly string[]): void {
    this.#latest += 1;
    for (const key of keys) this.#changes.set(key, this.#latest);
  }

  /** The change since which the diagnosis is outdated; undefined if it is not. */
  changeOf(key: string): number | undefined {
    return this.#changes.get(key);
  }

  /** The incident is gone. */
  forget(key: string): void {
    this.#changes.delete(key);
  }

  /** Diagnosed again as of `change`. A later change keeps it outdated. */
  settle(key: string, change: number): void {
    if (this.#changes.get(key) === change) this.#changes.delete(key);
  }
}
