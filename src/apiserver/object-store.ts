import type { KubeObject } from "../kube/index.ts";

/**
 * Port: where the embedded API server keeps its objects. One order of all changes, numbered by a revision that is
 * never reused, over restart too. A revision is visible only when it is durable: to the caller that wrote it, to
 * readers and to watchers. Writes that come together share one flush.
 */
export interface ObjectStore {
  /** The newest durable revision. */
  readonly revision: number;
  /** Changes up to and including this one are gone: no watch can start before it. */
  readonly compactedRevision: number;
  /** The newest durable state of an object. */
  get(resource: string, namespace: string, name: string): StoredEntry | undefined;
  /** The newest durable state of all objects of a resource, in the order of namespace and name. */
  list(resource: string, namespace?: string): Iterable<StoredEntry>;
  /**
   * Decides and changes in one step. `decide` is called at once with the newest state, durable or not, and must not
   * wait; its result takes effect after all changes decided before it. Resolves when the change, and everything
   * that `decide` could see, is durable. Rejects with `unavailable` if it cannot be made durable; then it did not happen.
   */
  write<T>(
    key: ObjectKey,
    decide: (current: StoredEntry | undefined, revision: number) => WriteDecision<T>,
  ): Promise<T>;
  /**
   * Calls `changed` for every change after `revision`, in order, each once; those of the past before this returns.
   * Undefined if that is compacted away.
   */
  watch(resource: string, revision: number, changed: (change: Change) => void): { stop(): void } | undefined;
  /** Forgets the history of changes up to `revision`. Objects stay. */
  compact(revision: number): void;
  close(): Promise<void>;
}

/** `resource` is `plural` or `plural.group`; `namespace` is empty for objects that have none. */
export interface ObjectKey {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** The key as one text. Sorts like namespace, then name: no character of either sorts before the separator. */
export function keyText({ resource, namespace, name }: ObjectKey): string {
  return `${resource}\u0000${namespace}\u0000${name}`;
}

/**
 * An object and its JSON text, made once and shared by the log, responses and watchers. Do not copy it by spread: a store may
 * parse `object` only when it is first read.
 */
export interface Entry {
  /** Deeply readonly; `metadata.resourceVersion` is `revision`. */
  readonly object: KubeObject;
  readonly json: string;
  readonly revision: number;
}

/** An entry of a store. Its key is known without parsing the object, and is one JavaScript object wherever the entry occurs. */
export interface StoredEntry extends Entry {
  readonly key: ObjectKey;
}

/** The object must have the revision that was passed to `decide`. */
export type WriteDecision<T> =
  | { readonly do: "nothing"; readonly result: T }
  | { readonly do: "put" | "delete"; readonly object: KubeObject; readonly json: string; readonly result: T };

/** A `delete` carries the object as it was last, with the revision of its end. */
export interface Change {
  readonly do: "put" | "delete";
  readonly key: ObjectKey;
  readonly entry: StoredEntry;
  /** Undefined when the object was created. */
  readonly previous: StoredEntry | undefined;
}
