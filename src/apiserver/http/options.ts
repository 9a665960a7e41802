import type { FieldValidation } from "../api/decode-object.ts";
import type { DeleteOptions, Propagation } from "../api/delete.ts";
import { invalidValue, notSupported } from "../api/problem.ts";
import { badRequest, invalidOptions } from "../api/status-error.ts";
import { isRecord, member } from "../json/json.ts";

/** The parameter dryRun of a write. `kind` is the name of the options in errors. */
export function parseDryRun(query: URLSearchParams, kind: string): boolean {
  return isDryRun(query.getAll("dryRun"), kind);
}

function isDryRun(values: readonly unknown[], kind: string): boolean {
  if (values.length === 0 || (values.length === 1 && values[0] === "")) return false;
  if (values.every((value) => value === "All")) return true;
  const shown = `[]string{${values.map((value) => JSON.stringify(value)).join(", ")}}`;
  const problem = notSupported("dryRun", "", ["All"]);
  throw invalidOptions(kind, [{ ...problem, message: problem.message.replace('value: ""', `value: ${shown}`) }]);
}

export function parseFieldValidation(query: URLSearchParams, kind: string): FieldValidation {
  const value = query.get("fieldValidation") ?? "";
  if (value === "") return "Warn";
  if (value === "Strict" || value === "Warn" || value === "Ignore") return value;
  throw invalidOptions(kind, [notSupported("fieldValidation", value, ["", "Ignore", "Strict", "Warn"])]);
}

/** The options of a delete, from its body and its query. */
export function parseDeleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  if (body !== undefined && !isRecord(body)) throw badRequest("the delete options are not an object");
  const kind = member(body, "kind");
  if (kind !== undefined && kind !== "DeleteOptions")
    throw badRequest(`${String(kind)} cannot be handled as DeleteOptions`);

  const policy = member(body, "propagationPolicy") ?? query.get("propagationPolicy") ?? undefined;
  const orphan = member(body, "orphanDependents") ?? parseFlag(query, "orphanDependents");
  const dryRun = isDryRun([...query.getAll("dryRun"), ...list(member(body, "dryRun"))], "DeleteOptions");
  const { uid, resourceVersion } = (member(body, "preconditions") ?? {}) as Readonly<
    Record<"uid" | "resourceVersion", unknown>
  >;
  return {
    propagation: parsePropagation(policy, orphan),
    dryRun,
    preconditions: {
      ...(typeof uid === "string" ? { uid } : {}),
      ...(typeof resourceVersion === "string" ? { resourceVersion } : {}),
    },
  };
}

function parsePropagation(policy: unknown, orphan: unknown): Propagation | undefined {
  if (policy !== undefined && orphan !== undefined) {
    const rule = "orphanDependents and deletionPropagation cannot be both set";
    throw invalidOptions("DeleteOptions", [invalidValue("propagationPolicy", policy, rule)]);
  }
  if (orphan !== undefined) return orphan === true ? "Orphan" : "Background";
  if (policy === undefined || policy === "Foreground" || policy === "Background" || policy === "Orphan") return policy;
  const known = ["Foreground", "Background", "Orphan", "nil"];
  throw invalidOptions("DeleteOptions", [notSupported("propagationPolicy", policy, known)]);
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** `1`, `true`, and a name without a value are true. */
export function parseFlag(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  return value !== "0" && value.toLowerCase() !== "false";
}

export function parseNumber(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === "") return undefined;
  if (/^-?\d{1,15}$/.test(value)) return Number(value);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax (${name})`);
}
