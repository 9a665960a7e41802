import type { PrinterColumn } from "../../kube/index.ts";
import { writeJson } from "../json/json.ts";
import { age, type Column } from "./column.ts";
import { jsonPath } from "./json-path.ts";

/** A column of a CustomResourceDefinition. */
export function printerColumn({
  name,
  type,
  format = "",
  description,
  priority = 0,
  jsonPath: path,
}: PrinterColumn): Column {
  const values = jsonPath(path);
  return {
    name,
    type,
    format,
    description: description || `Custom resource definition column (in JSONPath format): ${path}`,
    priority,
    cell: (object, nowMs) => toCell(values(object), type, nowMs),
  };
}

/** Null if absent or not of the column's type. */
function toCell([value, ...more]: readonly unknown[], type: string, nowMs: number): unknown {
  if (value === undefined || value === null) return null;
  switch (type) {
    case "integer":
      return typeof value === "bigint" || Number.isInteger(value) ? value : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return age(value, nowMs) ?? null;
    default:
      return [value, ...more].map((one) => (typeof one === "string" ? one : writeJson(one))).join(" ");
  }
}
