import type { ObjectKey } from "../object-store.ts";
import { SortedObjects } from "./sorted-objects.ts";
import type { StoredObject, TextSpill } from "./stored-object.ts";

/** All objects: found by key without a search, and listed by resource in the order of namespace and name. Long texts are in the spill. */
export class ObjectTable {
  readonly #resources = new Map<string, Resource>();
  readonly #spill: TextSpill | undefined;
  #size = 0;
  #characters = 0;

  /** Without a spill all texts are in memory. */
  constructor(spill?: TextSpill) {
    this.#spill = spill;
  }

  get size(): number {
    return this.#size;
  }

  /** Of the JSON of all objects. */
  get characters(): number {
    return this.#characters;
  }

  get(resource: string, namespace: string, name: string): StoredObject | undefined {
    return this.#resources.get(resource)?.byNamespace.get(namespace)?.get(name);
  }

  list(resource: string, namespace?: string): Iterable<StoredObject> {
    const sorted = this.#resources.get(resource)?.sorted;
    if (!sorted) return [];
    return namespace === undefined ? sorted.all() : sorted.in(namespace);
  }

  put(object: StoredObject): void {
    const { resource, namespace, name } = object.key;
    const { byNamespace, sorted } = this.#resources.get(resource) ?? this.#addResource(resource);
    const byName = byNamespace.get(namespace) ?? new Map<string, StoredObject>();
    byNamespace.set(namespace, byName.set(name, object));
    const previous = sorted.set(object);
    if (!previous) this.#size++;
    this.#characters += object.characters - (previous?.characters ?? 0);
    previous?.unspill();
  }

  delete({ resource, namespace, name }: ObjectKey): void {
    const { byNamespace, sorted } = this.#resources.get(resource) ?? {};
    const previous = sorted?.delete(namespace, name);
    if (!previous) return;
    const byName = byNamespace?.get(namespace);
    byName?.delete(name);
    // Namespaces come and go; their empty maps must not remain.
    if (byName?.size === 0) byNamespace?.delete(namespace);
    this.#size--;
    this.#characters -= previous.characters;
    previous.unspill();
  }

  /** Moves the text of `object` out of memory, if the table still has that object. */
  spill(object: StoredObject): void {
    const { resource, namespace, name } = object.key;
    if (this.#spill && this.get(resource, namespace, name) === object) object.spillTo(this.#spill);
  }

  close(): void {
    this.#spill?.close();
  }

  /**
   * All objects that have not changed since `revision`, evaluated object by object. Writes continue meanwhile, and replaced
   * objects are not kept for it.
   */
  *unchangedSince(revision: number): Generator<StoredObject> {
    for (const { sorted } of [...this.#resources.values()]) {
      let some = sorted.listAfter(undefined);
      while (some.length > 0) {
        for (const object of some) if (object.revision <= revision) yield object;
        some = sorted.listAfter(some.at(-1)?.key);
      }
    }
  }

  #addResource(name: string): Resource {
    const resource: Resource = { byNamespace: new Map(), sorted: new SortedObjects() };
    this.#resources.set(name, resource);
    return resource;
  }
}

interface Resource {
  readonly byNamespace: Map<string, Map<string, StoredObject>>;
  readonly sorted: SortedObjects;
}
