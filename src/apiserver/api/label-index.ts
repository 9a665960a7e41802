import { Multimap } from "../../kube/index.ts";
import type { ObjectKey, ObjectStore, StoredEntry } from "../object-store.ts";

/** More keys than our own selectors use. Requests with other keys go through all objects. */
const maxIndexes = 32;

/**
 * Objects by the value of a label, for the label keys that requests ask for: the list of one object's relatives costs the
 * same however many other objects there are. An index is made when a key is first asked for, and follows the store.
 */
export class LabelIndex {
  readonly #store: ObjectStore;
  readonly #indexes = new Map<string, Multimap<ObjectKey>>();
  readonly #watches: { stop(): void }[] = [];

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** The objects of `resource` whose label `key` is `value`, in the order of the store. Undefined without an index. */
  find(resource: string, key: string, value: string): Iterable<StoredEntry> | undefined {
    const index = this.#getOrCreateIndex(resource, key);
    if (!index) return undefined;
    const keys = [...index.get(value)].sort(compareKeys);
    return keys.flatMap(({ namespace, name }) => this.#store.get(resource, namespace, name) ?? []);
  }

  close(): void {
    for (const watch of this.#watches) watch.stop();
    this.#indexes.clear();
  }

  #getOrCreateIndex(resource: string, key: string): Multimap<ObjectKey> | undefined {
    const name = `${resource} ${key}`;
    const known = this.#indexes.get(name);
    if (known || this.#indexes.size >= maxIndexes) return known;

    const index = new Multimap<ObjectKey>();
    const watch = this.#store.watch(resource, this.#store.revision, (change) => {
      if (change.previous) remove(index, change.previous, key);
      if (change.do === "put") add(index, change.entry, key);
    });
    if (!watch) return undefined;
    for (const entry of this.#store.list(resource)) add(index, entry, key);
    this.#watches.push(watch);
    this.#indexes.set(name, index);
    return index;
  }
}

/** Each entry is filed by its own key object, under which it is also removed. */
function add(index: Multimap<ObjectKey>, entry: StoredEntry, label: string) {
  const value = labelValue(entry, label);
  if (value !== undefined) index.add(value, entry.key);
}

function remove(index: Multimap<ObjectKey>, entry: StoredEntry, label: string) {
  const value = labelValue(entry, label);
  if (value !== undefined) index.delete(value, entry.key);
}

function labelValue({ object: { metadata } }: StoredEntry, key: string): string | undefined {
  return metadata.labels && Object.hasOwn(metadata.labels, key) ? metadata.labels[key] : undefined;
}

/** The order of the store: by namespace, then by name. */
function compareKeys(one: ObjectKey, other: ObjectKey): number {
  if (one.namespace !== other.namespace) return one.namespace < other.namespace ? -1 : 1;
  return one.name < other.name ? -1 : 1;
}
