import { type Draft, isRecord } from "../json/json.ts";

/** RFC 7386: `target` changed in place by `patch`; null takes a field away, lists are replaced. */
export function mergePatched(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;

  const result: Draft = isRecord(target) ? target : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatched(result[key], value);
  }
  return result;
}
