import type { StructuralSchema } from "../../kube/index.ts";

/** A value of a built-in kind has a type that its field cannot hold. Becomes a 400, not a list of problems. */
export class WrongTypeError extends Error {
  override readonly name = "WrongTypeError";
}

/** The string, number or boolean that a field of a built-in kind takes from `value`. Throws `WrongTypeError`. */
export function decodeScalar(value: unknown, { type, format }: StructuralSchema, path: string): unknown {
  switch (type) {
    case "string":
      if (typeof value !== "string") throw mismatch(value, "string", path);
      return decodeString(value, format, path);
    case "integer":
      if (typeof value === "bigint" && format !== "int32") return value;
      if (typeof value !== "number" || !Number.isInteger(value)) throw mismatch(value, format ?? "int64", path);
      if (format === "int32" && value !== (value | 0)) throw mismatch(value, "int32", path);
      return value;
    case "number":
      if (typeof value !== "number" && typeof value !== "bigint") throw mismatch(value, "float64", path);
      return value;
    case "boolean":
      if (typeof value !== "boolean") throw mismatch(value, "bool", path);
      return value;
    default:
      return value;
  }
}

function decodeString(value: string, format: string | undefined, path: string): string {
  switch (format) {
    case "micro-time":
      return utcTime(value, /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{6})(Z|[+-]\d\d:\d\d)$/, path);
    case "date-time":
      return utcTime(value, /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)()(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/, path);
    case "byte":
      if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value)) {
        throw new WrongTypeError(`illegal base64 data in ${path}`);
      }
      return value;
    default:
      return value;
  }
}

/** `shape` captures seconds, the fraction to keep, and the zone. */
function utcTime(value: string, shape: RegExp, path: string): string {
  const [, seconds, fraction, zone] = shape.exec(value) ?? [];
  const instant = new Date(`${seconds}${zone}`);
  if (Number.isNaN(instant.getTime())) throw new WrongTypeError(`parsing time ${JSON.stringify(value)} of ${path}`);
  return instant.toISOString().replace(".000Z", `${fraction}Z`);
}

/** The error of a value whose field holds `wanted`, as Go words it. */
export function mismatch(value: unknown, wanted: string, path: string): WrongTypeError {
  const found = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return new WrongTypeError(`json: cannot unmarshal ${found} into Go struct field ${path} of type ${wanted}`);
}
