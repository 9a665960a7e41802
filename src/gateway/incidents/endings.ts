import { setNewest } from "../../kube/index.ts";
import type { Report } from "../identity/report.ts";

const maxEndings = 10_000;

/**
 * Ends of series that no incident records, because the firing signal may arrive late. They are lost when the process ends; a late
 * firing signal then opens an incident that becomes stale.
 */
export class Endings {
  readonly #ends = new Map<string, string>();

  note(report: Report, endedAt: string): void {
    const key = endingKey(report);
    const known = this.#ends.get(key);
    setNewest(this.#ends, [key, known !== undefined && known > endedAt ? known : endedAt], maxEndings);
  }

  endOf(report: Report): string | undefined {
    return this.#ends.size === 0 ? undefined : this.#ends.get(endingKey(report));
  }
}

function endingKey({ fingerprint, signal }: Report): string {
  return `${fingerprint} ${signal.series}`;
}
