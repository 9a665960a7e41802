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
    this.#widen([heading, ...rows]);
    return [this.#line(heading, () => "heading"), ...rows.map((row) => this.#line(row, this.#tone))];
  }

  /** One more line below those before. */
  line(row: readonly string[]): readonly Span[] {
    this.#widen([row]);
    return this.#line(row, this.#tone);
  }

  #widen(rows: readonly (readonly string[])[]): void {
    const count = Math.max(this.#widths.length, ...rows.map((row) => row.length));
    this.#widths = Array.from({ length: count }, (_, i) =>
      Math.max(this.#widths[i] ?? 0, ...rows.map((row) => toPrintable(row[i] ?? "").length)),
    );
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
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, i) =>
    Math.max(...rows.map((row) => toPrintable(row[i] ?? "").length)),
  );
  return widths.reduce((total, width) => total + width, gap * (count - 1));
}

/** A whole table of text. */
export function columnLines(headings: readonly string[], rows: readonly (readonly string[])[]): readonly Line[] {
  return new Columns().lines(headings, rows);
}
