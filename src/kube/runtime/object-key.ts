import type { KubeObject } from "../object.ts";

/** What an object with a namespace is called in a work queue. */
export function objectKey({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Where the object is that has this key. */
export function refOfKey(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}
