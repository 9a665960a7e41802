import type { ChainItem, ChainProblem } from "./chain.ts";
import type { Head, LedgerRow } from "./row.ts";

/** The heads that writers recorded of one another, by writer and by number of the row. If a row was exchanged, they differ. */
export class Witnesses {
  readonly #recorded = new Map<string, Map<number, Witness[]>>();

  /** Adds the heads of a `ledger.heads` row. */
  add({ facts }: LedgerRow, place: string): void {
    for (const [where, fact] of [
      ["journal", facts["heads"]],
      ["database", facts["stored"]],
    ] as const) {
      for (const [writer, { seq, hash }] of Object.entries((fact ?? {}) as unknown as Record<string, Head>)) {
        const rows = this.#recorded.get(writer) ?? new Map<number, Witness[]>();
        rows.set(seq, [...(rows.get(seq) ?? []), { seq, hash, place, where }]);
        this.#recorded.set(writer, rows);
      }
    }
  }

  /** The record of another row with this number, if there is one. */
  objector({ writer, seq, hash }: LedgerRow): Witness | undefined {
    return this.#recorded
      .get(writer)
      ?.get(seq)
      ?.find((witness) => witness.hash !== hash);
  }

  get writers(): readonly string[] {
    return [...this.#recorded.keys()];
  }

  /** The newest row of a writer that was seen in `where`. */
  newest(writer: string, where: Witness["where"]): Witness | undefined {
    const all = [...(this.#recorded.get(writer)?.values() ?? [])].flat().filter((witness) => witness.where === where);
    return all.sort((one, other) => one.seq - other.seq).at(-1);
  }
}

export interface Witness extends Head {
  /** Where it is recorded. */
  readonly place: string;
  /** Where the row was seen: a row of a journal may reach the database later, and be gone from the journal then. */
  readonly where: "journal" | "database";
}

export interface WriterReport {
  readonly writer: string;
  readonly rows: number;
  readonly head: Head | undefined;
  /** The start of a pending write, or of one that a crash cut short. Not a problem, because it was never acknowledged. */
  readonly incomplete: { readonly file: string; readonly line: number } | undefined;
}

export interface LedgerReport {
  readonly writers: readonly WriterReport[];
  /** Empty if no row was changed and none is missing, as far as the ledger itself can show. */
  readonly problems: readonly ChainProblem[];
}

/** Goes through one writer's rows, and compares them with the heads that others recorded. */
export async function examine(
  writer: string,
  items: AsyncIterable<ChainItem>,
  { witnesses, report }: { readonly witnesses: Witnesses; readonly report: (problem: ChainProblem) => void },
): Promise<WriterReport> {
  let rows = 0;
  let head: Head | undefined;
  let incomplete: WriterReport["incomplete"];
  for await (const item of items) {
    if (item.kind === "problem") report(item.problem);
    if (item.kind === "tail") incomplete = { file: item.file, line: item.line.number };
    if (item.kind !== "row") continue;

    const { row, file, line } = item;
    rows++;
    head = { seq: row.seq, hash: row.hash };
    const objector = witnesses.objector(row);
    if (!objector) continue;
    const message = `row ${row.seq} is not the one recorded in ${objector.place}`;
    report({ kind: "changed", file, line: line.number, message });
  }
  return { writer, rows, head, incomplete };
}

/** The newest recorded head is enough: when it was recorded, all rows before it existed. */
export function missingEnd(file: string, head: Head | undefined, newest: Witness | undefined): ChainProblem[] {
  if (!newest || newest.seq <= (head?.seq ?? 0)) return [];
  const message = `row ${newest.seq} is missing; it is recorded in ${newest.place}`;
  return [{ kind: "missing", file, line: 0, message }];
}
