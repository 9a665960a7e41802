import { toPrintable } from "../../telemetry/index.ts";
import type { Line, Span, Tone } from "./terminal.ts";

/** Blanks between two columns. */
const gap = 3;

/** Cells in aligned columns. Later rows stay aligned unless one of their cells is wider. */
export class Columns {
  readonly #tone: (cell: string, column: number) => Tone | undefined;
  /** The width of each column: that of its widest cell so far. */
  #widths: readonly number[] = [];

  constructor(tone: (cell: string, column: number) => Tone | undefined = () => undefined) {
    this.#tone = tone;
  }

  /** One line per row, below one for the headings. */
  lines(headings: readonly string[], rows: readonly (readonly string[])[]): readonly Line[] {
    const heading = headings.map((name) => name.toUpperCase());
    this.#widths = columnWidths([heading, ...rows], this.#widths);
    return [this.#line(heading, () => "heading"), ...rows.map((row) => this.#line(row, this.#tone))];
  }

  /** One more line below those before. */
  line(row: readonly string[]): readonly Span[] {
    this.#widths = columnWidths([row], this.#widths);
    return this.#line(row, this.#tone);
  }

  /** The cells in their columns, without blanks behind the last one. */
  #line(row: readonly string[], toneOf: (cell: string, column: number) => Tone | undefined): readonly Span[] {
    const last = row.findLastIndex((cell) => cell !== "");
    return row.slice(0, last + 1).flatMap((cell, i): readonly Span[] => {
      // Escaped here too, or columns would be aligned by characters that are not printed.
      const text = toPrintable(cell);
      const tone = toneOf(cell, i);
      const blanks = i === last ? "" : " ".repeat((this.#widths[i] ?? 0) - text.length + gap);
      return [tone ? { text, tone } : text, blanks];
    });
  }
}

/** How wide a table with these rows would be. */
export function tableWidth(rows: readonly (readonly string[])[]): number {
  const widths = columnWidths(rows);
  return widths.reduce((total, width) => total + width, gap * (widths.length - 1));
}

/** The width of the widest cell of each column, or its width in `before` if that is larger. */
function columnWidths(rows: readonly (readonly string[])[], before: readonly number[] = []): readonly number[] {
  const widths = [...before];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, toPrintable(cell).length);
  }
  return widths;
}

/** A whole table of text. */
export function columnLines(headings: readonly string[], rows: readonly (readonly string[])[]): readonly Line[] {
  return new Columns().lines(headings, rows);
}
