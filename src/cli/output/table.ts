import { printerColumn } from "../../apiserver/index.ts";
import type { KubeObject } from "../../kube/index.ts";
import { blockText, type Kind } from "../../resources/index.ts";
import { toPrintable } from "../../telemetry/index.ts";

interface TableOptions {
  /** With the columns that matter less. */
  readonly wide: boolean;
  /** How a name is shown. */
  readonly nameOf: (name: string) => string;
}

/** Objects as `kubectl get` would show them, one line each below a line of headings. */
export class Table {
  readonly #columns;
  readonly #nameOf;
  /** Of the columns: as wide as their widest cell so far. */
  #widths: readonly number[] = [];

  constructor(kind: Kind, { wide, nameOf }: TableOptions) {
    this.#columns = kind.columns.filter(({ priority }) => wide || !priority).map(tableColumn);
    this.#nameOf = nameOf;
  }

  lines(objects: readonly KubeObject[], nowMs: number): readonly string[] {
    const head = ["Name", ...this.#columns.map(({ name }) => name)].map((name) => name.toUpperCase());
    return this.#aligned([head, ...objects.map((object) => this.#row(object, nowMs))]);
  }

  /** One more line below those before. */
  line(object: KubeObject, nowMs: number): string {
    return this.#aligned([this.#row(object, nowMs)])[0] ?? "";
  }

  /** The same for two objects that differ in nothing that is shown, however much time has passed. */
  looks(object: KubeObject): string {
    return this.#row(object, 0).join("\n");
  }

  #row(object: KubeObject, nowMs: number): readonly string[] {
    const cells = this.#columns.map((column) => String(column.cell(object, nowMs) ?? ""));
    // Escaped here too, or columns would be aligned by what is not printed.
    return [this.#nameOf(object.metadata.name ?? ""), ...cells].map(toPrintable);
  }

  #aligned(rows: readonly (readonly string[])[]): readonly string[] {
    const widest = (i: number) => Math.max(this.#widths[i] ?? 0, ...rows.map((row) => row[i]?.length ?? 0));
    this.#widths = rows[0]?.map((_, i) => widest(i)) ?? [];
    const padded = (cell: string, i: number) => cell.padEnd(this.#widths[i] ?? 0);
    return rows.map((row) => row.map(padded).join("   ").trimEnd());
  }
}

/** Reasons are shown with their cause: `Backoff`, not `RecentlyRemediated`, after failures. */
function tableColumn(column: Kind["columns"][number]) {
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
