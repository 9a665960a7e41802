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

/** The value of a label as a key, for an index or a controller; none if the object does not have that label. */
export function labelKey(label: string): (object: KubeObject) => readonly string[] {
  return ({ metadata }) => {
    const value = metadata.labels?.[label];
    return value === undefined ? [] : [value];
  };
}
