import { createHash } from "node:crypto";

/** Every Kubernetes object, deeply readonly: a client may return the object that it caches. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** A kind of object and its API path. `T` is the type of its objects. */
export interface ResourceType<T extends KubeObject = KubeObject> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set: carries `T` for the type checker. */
  readonly shape?: T;
}

/** A reference to an object. `namespace` is omitted for kinds without one. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** Returns the preconditions of a delete that must not affect another or a changed object. */
export function exactly({ metadata: { uid = "", resourceVersion = "" } }: KubeObject) {
  return { uid, resourceVersion };
}

/** Returns the reference to an object. */
export function refOf({ metadata: { name = "", namespace } }: KubeObject): ObjectRef {
  return namespace === undefined ? { name } : { name, namespace };
}

/** A JSON object; neither a list nor null. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Aged = Pick<KubeObject, "metadata">;

/** Oldest first; objects of one second by uid, so that all replicas agree. */
export function byAge({ metadata: one }: Aged, { metadata: other }: Aged): number {
  return ageKey(one) < ageKey(other) ? -1 : 1;
}

function ageKey({ creationTimestamp = "", uid = "" }: KubeObject["metadata"]): string {
  return `${creationTimestamp} ${uid}`;
}

/** v1 Namespace. */
export const namespaces: ResourceType = {
  apiVersion: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
};

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

/** Returns the whole SHA-256 of `text` as 52 base32hex characters: lower case, and short enough for a label. */
export function nameHash(text: string): string {
  const hash = BigInt(`0x${createHash("sha256").update(text).digest("hex")}`);
  // Each digit has 5 bits: 52 digits have the 256 bits of the hash and 4 more.
  return (hash << 4n).toString(32).padStart(52, "0");
}
