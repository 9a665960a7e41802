import type { Draft } from "./json.ts";

/** JSON text of a tree that may hold bigints; fields that are undefined are left out. */
export function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // The only value of ours that the built-in writer refuses is a bigint: rare enough to find out this way.
    if (!(error instanceof TypeError)) throw error;
    return written(value);
  }
}

function written(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => (item === undefined ? "null" : written(item))).join(",")}]`;

  const fields: string[] = [];
  for (const [key, part] of Object.entries(value as Draft)) {
    if (part !== undefined) fields.push(`${JSON.stringify(key)}:${written(part)}`);
  }
  return `{${fields.join(",")}}`;
}
