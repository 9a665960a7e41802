import { isDeepStrictEqual } from "node:util";
import { type JsonPatchOperation, KubeError, type Patch } from "../client.ts";
import type { KubeObject } from "../object.ts";

/** What `object` becomes by `patch`; the object itself stays as it is. Throws `invalid` when the patch does not fit. */
export function patched(object: KubeObject, patch: Patch): KubeObject {
  const result = "merge" in patch ? merged(object, patch.merge) : operated(object, patch.json);
  if (!isRecord(result) || !isRecord(Reflect.get(result, "metadata"))) throw rejected();
  return result as unknown as KubeObject;
}

function merged(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;

  const result = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (value !== undefined) result[key] = merged(result[key], value);
  }
  return result;
}

function operated(object: KubeObject, operations: readonly JsonPatchOperation[]): unknown {
  const document: unknown = structuredClone(object);
  for (const operation of operations) operate(document, operation);
  return document;
}

function operate(document: unknown, operation: JsonPatchOperation) {
  const path = operation.path.split("/").slice(1).map(unescaped);
  const last = path.pop();
  if (last === undefined) throw rejected();

  let parent = document;
  for (const step of path) parent = isContainer(parent) ? Reflect.get(parent, step) : undefined;
  if (Array.isArray(parent)) operateOnList(parent, last, operation);
  else if (isRecord(parent)) operateOnRecord(parent, last, operation);
  else throw rejected();
}

function operateOnRecord(record: Record<string, unknown>, key: string, operation: JsonPatchOperation) {
  if (operation.op === "test") return assertEqual(record[key], operation.value);
  // The real server lets `replace` add an absent key, against RFC 6902; only `remove` insists.
  if (operation.op !== "remove") record[key] = structuredClone(operation.value);
  else if (!Object.hasOwn(record, key) || !delete record[key]) throw rejected();
}

function operateOnList(list: unknown[], step: string, operation: JsonPatchOperation) {
  const index = step === "-" && operation.op === "add" ? list.length : Number(step);
  const end = operation.op === "add" ? list.length : list.length - 1;
  if (!(/^(-|0|[1-9]\d*)$/.test(step) && index <= end)) throw rejected();

  if (operation.op === "test") assertEqual(list[index], operation.value);
  else if (operation.op === "remove") list.splice(index, 1);
  else list.splice(index, operation.op === "add" ? 0 : 1, structuredClone(operation.value));
}

function assertEqual(found: unknown, wanted: unknown) {
  if (!isDeepStrictEqual(found ?? null, wanted)) throw rejected();
}

function rejected(): KubeError {
  return new KubeError("invalid", "the server rejected our request due to an error in our request");
}

function unescaped(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return isContainer(value) && !Array.isArray(value);
}
