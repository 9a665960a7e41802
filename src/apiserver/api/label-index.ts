import type { Entry, ObjectKey, ObjectStore, StoredEntry } from "../object-store.ts";

/** More keys than our own selectors use; requests with others are answered by going through all objects. */
const maxIndexes = 32;

/**
 * Objects by the value of a label, for the label keys that requests ask for: the list of one object's relatives costs the
 * same however many other objects there are. An index is made when a key is first asked for, and follows the store.
 */
export class LabelIndex {
  readonly #store: ObjectStore;
  readonly #indexes = new Map<string, ByValue>();
  readonly #watches: { stop(): void }[] = [];

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** The objects of `resource` whose label `key` is `value`, in the order of the store. Undefined without an index. */
  find(resource: string, key: string, value: string): Iterable<StoredEntry> | undefined {
    const index = this.#indexOf(resource, key);
    if (!index) return undefined;
    const places = [...(index.get(value) ?? [])].sort(([one], [other]) => (one < other ? -1 : 1));
    return places.flatMap(([, { namespace, name }]) => this.#store.get(resource, namespace, name) ?? []);
  }

  close(): void {
    for (const watch of this.#watches) watch.stop();
    this.#indexes.clear();
  }

  #indexOf(resource: string, key: string): ByValue | undefined {
    const name = `${resource} ${key}`;
    const known = this.#indexes.get(name);
    if (known || this.#indexes.size >= maxIndexes) return known;

    const index: ByValue = new Map();
    const watch = this.#store.watch(resource, this.#store.revision, (change) => {
      remove(index, change.key, labelValue(change.previous, key));
      if (change.do === "put") add(index, change.key, labelValue(change.entry, key));
    });
    if (!watch) return undefined;
    for (const entry of this.#store.list(resource)) {
      add(index, entry.key, labelValue(entry, key));
    }
    this.#watches.push(watch);
    this.#indexes.set(name, index);
    return index;
  }
}

/** By value, then by place in the order of the store. */
type ByValue = Map<string, Map<string, ObjectKey>>;

function add(index: ByValue, key: ObjectKey, value: string | undefined) {
  if (value === undefined) return;
  const places = index.get(value) ?? new Map<string, ObjectKey>();
  if (places.size === 0) index.set(value, places);
  places.set(placeOf(key), key);
}

function remove(index: ByValue, key: ObjectKey, value: string | undefined) {
  const places = value === undefined ? undefined : index.get(value);
  if (value === undefined || !places) return;
  places.delete(placeOf(key));
  if (places.size === 0) index.delete(value);
}

function labelValue(entry: Entry | undefined, key: string): string | undefined {
  const labels = entry?.object.metadata.labels;
  return labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** Sorts like namespace, then name. */
function placeOf({ namespace, name }: ObjectKey): string {
  return `${namespace}\u0000${name}`;
}
