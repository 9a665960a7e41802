import type { KubeObject } from "../../kube/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import { cutText } from "../../telemetry/index.ts";

/** In characters, of a text in a row. The page of the object shows all of it. */
const maxTextLength = 200;

/** A sentence of Interlock as a row has it: with short names, as the command line prints them, and not too long. */
export function rowText(text: string): string {
  return cutText(shortNames(text), maxTextLength);
}

/** The fields that rows of all kinds have. */
export function rowBase({ metadata }: KubeObject) {
  const { namespace = "", name = "", resourceVersion = "", creationTimestamp = "" } = metadata;
  return {
    key: rowKey({ namespace, name }),
    name: shortNames(name),
    version: resourceVersion,
    createdAt: creationTimestamp,
  };
}

/** A reference as rows name objects. An object without a namespace of its own is looked for in `within`. */
export function rowKey(
  { namespace, name }: { readonly namespace?: string; readonly name: string },
  within = "",
): string {
  return `${namespace ?? within}/${name}`;
}

/** An optional field: absent, not undefined, if there is no value. */
export function field<K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: V });
}
