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
