import type { Report } from "../identity/report.ts";

const maxEndings = 10_000;

/**
 * Ends of series that have no incident to be written to, in case their beginning comes late. The incident remembers all
 * others; these are forgotten with the process, and then a late beginning opens an incident that grows stale.
 */
export class Endings {
  readonly #ends = new Map<string, string>();

  note(report: Report, endedAt: string): void {
    const key = endingKey(report);
    const known = this.#ends.get(key);
    this.#ends.delete(key);
    this.#ends.set(key, known !== undefined && known > endedAt ? known : endedAt);
    if (this.#ends.size <= maxEndings) return;
    for (const oldest of this.#ends.keys()) {
      this.#ends.delete(oldest);
      return;
    }
  }

  endOf(report: Report): string | undefined {
    return this.#ends.size === 0 ? undefined : this.#ends.get(endingKey(report));
  }
}

function endingKey({ fingerprint, signal }: Report): string {
  return `${fingerprint} ${signal.series}`;
}
