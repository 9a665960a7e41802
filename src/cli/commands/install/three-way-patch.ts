import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject } from "../../../kube/index.ts";

/**
 * The merge patch (RFC 7386) that brings `live` to `desired`: sets what differs, and removes what `last` had and `desired` has no
 * more. Fields that only the server or other tools have set stay.
 */
export function threeWayPatch(parts: {
  readonly last: JsonObject;
  readonly desired: JsonObject;
  readonly live: JsonObject;
}): JsonObject {
  const { last, desired, live } = parts;
  const patch: Record<string, unknown> = {};
  for (const [key, wanted] of Object.entries(desired)) {
    const found = live[key];
    const before = last[key];
    if (isJsonObject(wanted) && isJsonObject(found)) {
      const inner = threeWayPatch({ last: isJsonObject(before) ? before : {}, desired: wanted, live: found });
      if (Object.keys(inner).length > 0) patch[key] = inner;
    } else if (!covers(found, wanted) || (before !== undefined && !isDeepStrictEqual(before, wanted))) {
      patch[key] = wanted;
    }
  }
  for (const [key, before] of Object.entries(last)) {
    // kubectl records an empty map of annotations for every object: what others have set there stays.
    const hadFields = !isJsonObject(before) || Object.keys(before).length > 0;
    if (!(key in desired) && key in live && hadFields) patch[key] = null;
  }
  return patch;
}

/** Whether `live` is `desired`, apart from fields with which the server completes the items of lists. */
function covers(live: unknown, desired: unknown): boolean {
  if (Array.isArray(desired)) {
    const items: readonly unknown[] = Array.isArray(live) ? live : [];
    return items.length === desired.length && desired.every((item, i) => covers(items[i], item));
  }
  if (!isJsonObject(desired)) return isDeepStrictEqual(live, desired);
  const fields: JsonObject = isJsonObject(live) ? live : {};
  return Object.entries(desired).every(([key, wanted]) => covers(fields[key], wanted));
}

/** The changes of a patch, one per line: `spec.replicas: 2 -> 3`. */
export function describePatch(patch: JsonObject, live: JsonObject, path = ""): readonly string[] {
  return Object.entries(patch).flatMap(([key, value]) => {
    const [where, found] = [path ? `${path}.${key}` : key, live[key]];
    if (isJsonObject(value) && isJsonObject(found)) return describePatch(value, found, where);
    return [`${where}: ${shown(found)} -> ${shown(value === null ? undefined : value)}`];
  });
}

function shown(value: unknown): string {
  return value === undefined ? "(none)" : JSON.stringify(value);
}
