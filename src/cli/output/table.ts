import { printerColumn } from "../../apiserver/index.ts";
import type { KubeObject } from "../../kube/index.ts";
import { blockText, type Kind } from "../../resources/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import { Columns, tableWidth } from "./columns.ts";
import type { Line, Span } from "./terminal.ts";
import { cellTone } from "./tones.ts";

interface TableOptions {
  /** With whole names, and with the columns that matter less. */
  readonly wide: boolean;
  readonly withNamespace: boolean;
  /** Columns of the terminal: a table that is wider is shown without columns that are empty. */
  readonly maxWidth?: number | undefined;
}

interface Column {
  readonly name: string;
  cell(object: KubeObject, nowMs: number): unknown;
}

const nameColumn: Column = { name: "Name", cell: ({ metadata }) => metadata.name };
const namespaceColumn: Column = { name: "Namespace", cell: ({ metadata }) => metadata.namespace };

/** Objects as `kubectl get` would show them, one line each below a line of headings. */
export class Table {
  #columns: readonly Column[];
  readonly #maxWidth: number;
  readonly #aligned: Columns;
  readonly #toCell: (text: string) => string;

  constructor(kind: Kind, { wide, withNamespace, maxWidth = Number.POSITIVE_INFINITY }: TableOptions) {
    this.#maxWidth = maxWidth;
    this.#columns = [
      ...(withNamespace ? [namespaceColumn] : []),
      nameColumn,
      ...kind.columns.filter(({ priority }) => wide || !priority).map(tableColumn),
    ];
    this.#aligned = new Columns((cell, i) => cellTone(this.#columns[i]?.name ?? "", cell));
    this.#toCell = wide ? (text) => text : shortNames;
  }

  lines(objects: readonly KubeObject[], nowMs: number): readonly Line[] {
    const rows = () => objects.map((object) => this.#row(object, nowMs));
    const headings = () => this.#columns.map(({ name }) => name);
    if (tableWidth([headings(), ...rows()]) > this.#maxWidth) this.#columns = this.#filled(rows());
    return this.#aligned.lines(headings(), rows());
  }

  /** One more line below those before. */
  line(object: KubeObject, nowMs: number): readonly Span[] {
    return this.#aligned.line(this.#row(object, nowMs));
  }

  /** The same for two objects that differ in nothing that is shown, however much time has passed. */
  looks(object: KubeObject): string {
    return this.#row(object, 0).join("\n");
  }

  #filled(rows: readonly (readonly string[])[]): readonly Column[] {
    return this.#columns.filter((_, i) => rows.some((row) => row[i] !== ""));
  }

  #row(object: KubeObject, nowMs: number): readonly string[] {
    return this.#columns.map((column) => this.#toCell(String(column.cell(object, nowMs) ?? "")));
  }
}

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
