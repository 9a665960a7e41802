import { printerColumn } from "../../apiserver/index.ts";
import type { KubeObject } from "../../kube/index.ts";
import { blockText, type Kind } from "../../resources/index.ts";
import { toPrintable } from "../../telemetry/index.ts";
import { shortNames } from "../parsing/short-name.ts";
import type { Line, Span, Tone } from "./terminal.ts";
import { cellTone } from "./tones.ts";

interface TableOptions {
  /** With whole names, and with the columns that matter less. */
  readonly wide: boolean;
  readonly withNamespace: boolean;
}

interface Column {
  readonly name: string;
  cell(object: KubeObject, nowMs: number): unknown;
}

const nameColumn: Column = { name: "Name", cell: ({ metadata }) => metadata.name };
const namespaceColumn: Column = { name: "Namespace", cell: ({ metadata }) => metadata.namespace };

/** Objects as `kubectl get` would show them, one line each below a line of headings. */
export class Table {
  readonly #columns: readonly Column[];
  readonly #toCell: (text: string) => string;
  /** Of the columns: as wide as their widest cell so far. */
  #widths: readonly number[] = [];

  constructor(kind: Kind, { wide, withNamespace }: TableOptions) {
    this.#columns = [
      ...(withNamespace ? [namespaceColumn] : []),
      nameColumn,
      ...kind.columns.filter(({ priority }) => wide || !priority).map(tableColumn),
    ];
    this.#toCell = wide ? toPrintable : (text) => shortNames(toPrintable(text));
  }

  lines(objects: readonly KubeObject[], nowMs: number): readonly Line[] {
    const heading = this.#columns.map(({ name }) => name.toUpperCase());
    const rows = objects.map((object) => this.#row(object, nowMs));
    this.#widen([heading, ...rows]);
    return [this.#line(heading, () => "heading"), ...rows.map((row) => this.#line(row, cellTone))];
  }

  /** One more line below those before. */
  line(object: KubeObject, nowMs: number): readonly Span[] {
    const row = this.#row(object, nowMs);
    this.#widen([row]);
    return this.#line(row, cellTone);
  }

  /** The same for two objects that differ in nothing that is shown, however much time has passed. */
  looks(object: KubeObject): string {
    return this.#row(object, 0).join("\n");
  }

  #row(object: KubeObject, nowMs: number): readonly string[] {
    // Escaped here too, or columns would be aligned by characters that are not printed.
    return this.#columns.map((column) => this.#toCell(String(column.cell(object, nowMs) ?? "")));
  }

  #widen(rows: readonly (readonly string[])[]): void {
    this.#widths = this.#columns.map((_, i) =>
      Math.max(this.#widths[i] ?? 0, ...rows.map((row) => row[i]?.length ?? 0)),
    );
  }

  /** The cells in their columns, without blanks behind the last one. */
  #line(row: readonly string[], toneOf: (column: string, text: string) => Tone | undefined): readonly Span[] {
    const last = row.findLastIndex((cell) => cell !== "");
    return row.slice(0, last + 1).flatMap((text, i): readonly Span[] => {
      const tone = toneOf(this.#columns[i]?.name ?? "", text);
      const blanks = i === last ? "" : " ".repeat((this.#widths[i] ?? 0) - text.length + gap);
      return [tone ? { text, tone } : text, blanks];
    });
  }
}

/** Blanks between two columns. */
const gap = 3;

/** Reasons are shown with their cause: `Backoff`, not `RecentlyRemediated`, after failures. */
function tableColumn(column: Kind["columns"][number]): Column {
  const shown = printerColumn(column);
  if (!/\.(block|skipDetails)\.reason$/.test(column.jsonPath)) return shown;
  const cause = printerColumn({ ...column, jsonPath: column.jsonPath.replace(/reason$/, "cause") });
  const cell = (object: KubeObject, nowMs: number) => {
    const reason = shown.cell(object, nowMs);
    return typeof reason === "string"
      ? blockText(reason, String(cause.cell(object, nowMs) ?? "") || undefined)
      : reason;
  };
  return { ...shown, cell };
}
