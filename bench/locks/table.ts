type Cell = string | number | undefined;

/** Prints rows under a title, numbers rounded to three digits and to the right. */
export function printTable(title: string, columns: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const texts = [columns, ...rows].map((row) => row.map(textOf));
  const widths = columns.map((_, i) => Math.max(...texts.map((row) => row[i]?.length ?? 0)));
  console.log(`\n${title}`);
  for (const row of texts) {
    console.log(
      `  ${row.map((text, i) => (i === 0 ? text.padEnd(at(widths, i)) : text.padStart(at(widths, i)))).join("  ")}`,
    );
  }
}

function textOf(cell: Cell): string {
  if (typeof cell !== "number") return cell ?? "";
  if (Math.abs(cell) >= 1_000) return Math.round(cell).toLocaleString("en");
  return String(rounded(cell));
}

/** To three significant digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

function at(widths: readonly number[], i: number): number {
  return widths[i] ?? 0;
}
