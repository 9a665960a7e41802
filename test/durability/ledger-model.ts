import { expect } from "vitest";
import type { DiskView } from "../../src/disk/index.ts";
import { readWriter } from "../../src/ledger/file/read-chain.ts";
import { type Ledger, LedgerError } from "../../src/ledger/index.ts";

/** The events appended to a ledger over all its lives, and those that it must have kept. */
export class LedgerModel {
  rejected = 0;
  readonly #story: string;
  readonly #sent = new Set<string>();
  readonly #acknowledged = new Set<string>();
  /** The hashes of all rows that were seen: they must stay, in this order. */
  #seen: string[] = [];

  constructor(story: string) {
    this.#story = story;
  }

  /** Appends an event to the ledger, and notes the answer. */
  async append(ledger: Ledger, length: number): Promise<void> {
    const id = `event-${this.#sent.size + 1}`;
    this.#sent.add(id);
    try {
      await ledger.append({
        id,
        type: "run.created",
        at: "2026-11-15T10:00:00.000Z",
        facts: { text: "é".repeat(length) },
      });
      this.#acknowledged.add(id);
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error;
      this.rejected++;
    }
  }

  /** Looks at every row. */
  async check(view: DiskView, writer: string): Promise<void> {
    const ids: string[] = [];
    const hashes: string[] = [];
    for await (const item of readWriter(view, writer)) {
      expect(item, this.#story).toMatchObject({ kind: "row" });
      if (item.kind !== "row") continue;
      ids.push(item.row.id);
      hashes.push(item.row.hash);
    }
    const found = new Set(ids);
    expect(found.size, `${this.#story}: no row twice`).toBe(ids.length);
    expect(
      [...this.#acknowledged].filter((id) => !found.has(id)),
      `${this.#story}: nothing lost`,
    ).toEqual([]);
    expect(
      ids.filter((id) => !this.#sent.has(id)),
      `${this.#story}: nothing made up`,
    ).toEqual([]);
    expect(hashes.slice(0, this.#seen.length), `${this.#story}: nothing seen is taken back`).toEqual(this.#seen);
    this.#seen = hashes;
  }
}
