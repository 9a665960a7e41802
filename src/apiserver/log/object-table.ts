import type { ObjectKey } from "../object-store.ts";
import { SortedObjects } from "./sorted-objects.ts";
import type { StoredObject, TextSpill } from "./stored-object.ts";

/** All objects: found by key without a search, listed in order without sorting. Long texts are in the spill. */
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
    const { byNamespace, sorted } = this.#resource(resource);
    const byName = byNamespace.get(namespace) ?? new Map<string, StoredObject>();
    if (byName.size === 0) byNamespace.set(namespace, byName);
    const previous = byName.get(name);
    if (!previous) this.#size++;
    this.#characters += object.characters - (previous?.characters ?? 0);
    previous?.recall();
    byName.set(name, object);
    sorted.set(object);
  }

  delete({ resource, namespace, name }: ObjectKey): void {
    const { byNamespace, sorted } = this.#resource(resource);
    const byName = byNamespace.get(namespace);
    const previous = byName?.get(name);
    if (!byName || !previous) return;
    this.#size--;
    this.#characters -= previous.characters;
    previous.recall();
    byName.delete(name);
    sorted.delete(namespace, name);
    // Namespaces come and go; their empty maps must not stay behind.
    if (byName.size === 0) byNamespace.delete(namespace);
  }

  /** Moves the text of `object` out of memory, if the table still has that object. */
  spill(object: StoredObject): void {
    const { resource, namespace, name } = object.key;
    if (this.#spill && this.get(resource, namespace, name) === object) object.moveTo(this.#spill);
  }

  close(): void {
    this.#spill?.close();
  }

  /**
   * All objects that have not changed since `revision`, evaluated object by object. It may take long:
   * writes continue, and replaced objects are not kept for it.
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

  #resource(name: string): Resource {
    const known = this.#resources.get(name);
    if (known) return known;
    const resource: Resource = { byNamespace: new Map(), sorted: new SortedObjects() };
    this.#resources.set(name, resource);
    return resource;
  }
}

interface Resource {
  readonly byNamespace: Map<string, Map<string, StoredObject>>;
  readonly sorted: SortedObjects;
}
