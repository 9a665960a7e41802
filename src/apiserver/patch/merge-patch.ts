import { type Draft, isRecord } from "../json/json.ts";

/** RFC 7386: null takes a field away, lists are replaced. Shares what `patch` does not mention with `target`, which stays as it is. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;

  const result: Draft = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key], value);
  }
  return result;
}
