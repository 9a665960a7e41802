/**
 * The value of a request: a tree without other references, which may be changed in place. Integers beyond 2^53 are bigint, so
 * that no digit is lost.
 */
export interface Draft {
  [field: string]: unknown;
  apiVersion?: unknown;
  kind?: unknown;
  metadata?: unknown;
  spec?: unknown;
  status?: unknown;
}

export function isRecord(value: unknown): value is Draft {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The part of `value` at a path of fields, or undefined if there is none. */
export function member(value: unknown, ...path: readonly string[]): unknown {
  let part = value;
  for (const name of path) part = isRecord(part) && Object.hasOwn(part, name) ? part[name] : undefined;
  return part;
}

/** A private copy without undefined fields, as JSON would have it. */
export function toDraft<T>(value: T): T {
  return copyValue(value) as T;
}

function copyValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : copyValue(item)));

  const copy: Draft = {};
  for (const key of Object.keys(value)) {
    const part = (value as Draft)[key];
    if (part !== undefined) copy[key] = copyValue(part);
  }
  return copy;
}

/** Freezes `value` recursively and returns it. A frozen part is assumed to be frozen throughout. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const key of Object.keys(value)) deepFreeze((value as Draft)[key]);
  return Object.freeze(value);
}

/** Whether two trees are equal, regardless of the order of fields. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;

  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(b, key) || !sameJson((a as Draft)[key], (b as Draft)[key])) return false;
  }
  return true;
}

/** JSON text of a tree that may hold bigints; fields that are undefined are left out. */
export function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // The built-in writer rejects only a bigint, which is too rare to look for it before.
    if (!(error instanceof TypeError)) throw error;
    return toJson(value);
  }
}

function toJson(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => (item === undefined ? "null" : toJson(item))).join(",")}]`;

  const fields: string[] = [];
  for (const [key, part] of Object.entries(value as Draft)) {
    if (part !== undefined) fields.push(`${JSON.stringify(key)}:${toJson(part)}`);
  }
  return `{${fields.join(",")}}`;
}
