import type { KubeObject } from "../../kube/index.ts";
import { deepFreeze } from "./json.ts";
import { parseJson } from "./parse-json.ts";

/** The object that a stored text stands for, deeply frozen, with all digits of its numbers. */
export function freezeJson(text: string): KubeObject {
  // Fewer digits than this always fit a number, and the built-in parser is the faster one.
  const value: unknown = /\d{16}/.test(text) ? parseJson(text).value : JSON.parse(text);
  return deepFreeze(value) as KubeObject;
}
