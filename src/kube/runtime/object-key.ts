import type { KubeObject } from "../object.ts";

/** Returns the key of an object with a namespace in a work queue. */
export function objectKey({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Returns the reference to the object that has this key. */
export function refOfKey(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}

/** Returns a function that returns the value of a label as a key, or no key if the object does not have the label. */
export function labelKey(label: string): (object: KubeObject) => readonly string[] {
  return ({ metadata }) => {
    const value = metadata.labels?.[label];
    return value === undefined ? [] : [value];
  };
}
