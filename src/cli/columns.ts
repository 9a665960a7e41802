import type { KubeObject } from "../kube/index.ts";
import { printerColumn } from "../kube/index.ts";
import type { Kind } from "../resources/index.ts";

interface TableOptions {
  readonly nowMs: number;
  /** With the columns that matter less. */
  readonly wide: boolean;
  /** How a name is shown. */
  readonly nameOf: (name: string) => string;
}

/** Objects as `kubectl get` would show them, one line each below a line of headings. */
export function table(kind: Kind, objects: readonly KubeObject[], { nowMs, wide, nameOf }: TableOptions) {
  const columns = kind.columns.filter(({ priority }) => wide || !priority).map(printerColumn);
  const rows = objects.map((object) => [
    nameOf(object.metadata.name ?? ""),
    ...columns.map((column) => String(column.cell(object, nowMs) ?? "")),
  ]);
  return aligned([["Name", ...columns.map(({ name }) => name)].map((name) => name.toUpperCase()), ...rows]);
}

/** Every column as wide as its widest cell. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("   ")
      .trimEnd(),
  );
}
