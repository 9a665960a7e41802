import type { KubeObject } from "../../kube/index.ts";
import type { Column } from "./column.ts";

export interface TableOptions {
  readonly columns: readonly Column[];
  readonly nowMs: number;
  /** `v1` or `v1beta1` of meta.k8s.io. */
  readonly version: string;
  readonly includeObject: "None" | "Metadata" | "Object";
  readonly metadata: object;
  /** Left out of all but the first event of a watch. */
  readonly withoutHeader?: boolean;
}

/** Objects in the form that `kubectl get` prints. */
export function table(objects: readonly KubeObject[], options: TableOptions): object {
  const { columns, nowMs, version, metadata } = options;
  const header = columns.map(({ cell: _, ...description }) => description);
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    columnDefinitions: options.withoutHeader ? null : header,
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.cell(object, nowMs)),
      object: rowObject(object, options),
    })),
  };
}

function rowObject(object: KubeObject, { includeObject, version }: TableOptions): unknown {
  if (includeObject === "None") return null;
  return includeObject === "Object" ? object : partialMetadata(object, version);
}

/** An object without anything but its metadata. */
export function partialMetadata({ metadata }: KubeObject, version = "v1"): object {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata };
}

/** Whether `value` is a value of the parameter includeObject. */
export function isIncludeObject(value: unknown): value is TableOptions["includeObject"] {
  return value === "None" || value === "Metadata" || value === "Object";
}
