import { writeJson } from "../json/json.ts";

/** A problem with one field, worded as kube-apiserver words it. */
export interface FieldProblem {
  readonly field: string;
  readonly reason: ProblemReason;
  readonly message: string;
}

export type ProblemReason =
  | "FieldValueInvalid"
  | "FieldValueTypeInvalid"
  | "FieldValueRequired"
  | "FieldValueNotSupported"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueDuplicate";

export function invalidValue(field: string, value: unknown, detail: string): FieldProblem {
  return { field, reason: "FieldValueInvalid", message: `Invalid value: ${formatValue(value)}: ${detail}` };
}

export function wrongType(field: string, value: unknown, detail: string): FieldProblem {
  return { field, reason: "FieldValueTypeInvalid", message: `Invalid value: ${formatValue(value)}: ${detail}` };
}

export function requiredField(field: string, detail = ""): FieldProblem {
  return { field, reason: "FieldValueRequired", message: detail ? `Required value: ${detail}` : "Required value" };
}

export function notSupported(field: string, value: unknown, supported: readonly unknown[]): FieldProblem {
  const values = supported.map(formatValue).join(", ");
  const message = `Unsupported value: ${formatValue(value)}: supported values: ${values}`;
  return { field, reason: "FieldValueNotSupported", message };
}

export function forbiddenField(field: string, detail: string): FieldProblem {
  return { field, reason: "FieldValueForbidden", message: `Forbidden: ${detail}` };
}

export function tooLong(field: string, maxBytes: number): FieldProblem {
  return { field, reason: "FieldValueTooLong", message: `Too long: may not be more than ${maxBytes} bytes` };
}

export function tooMany(field: string, count: number, max: number): FieldProblem {
  return { field, reason: "FieldValueTooMany", message: `Too many: ${count}: must have at most ${max} items` };
}

export function duplicateValue(field: string, value: string): FieldProblem {
  return { field, reason: "FieldValueDuplicate", message: `Duplicate value: ${value}` };
}

/** Strings in quotes, everything else as JSON. */
function formatValue(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(writeJson(value)) : writeJson(value ?? null);
}
