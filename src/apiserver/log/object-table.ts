import type { ObjectKey } from "../object-store.ts";
import { SortedObjects } from "./sorted-objects.ts";
import type { StoredObject, TextSpill } from "./stored-object.ts";

/** All objects by resource, in the order of namespace and name. Long texts are in the spill. */
export class ObjectTable {
  readonly #resources = new Map<string, SortedObjects>();
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
    return this.#resources.get(resource)?.get(namespace, name);
  }

  list(resource: string, namespace?: string): Iterable<StoredObject> {
    const sorted = this.#resources.get(resource);
    if (!sorted) return [];
    return namespace === undefined ? sorted.all() : sorted.in(namespace);
  }

  put(object: StoredObject): void {
    const { resource } = object.key;
    const sorted = this.#resources.get(resource) ?? new SortedObjects();
    this.#resources.set(resource, sorted);
    const previous = sorted.set(object);
    if (!previous) this.#size++;
    this.#characters += object.characters - (previous?.characters ?? 0);
    previous?.unspill();
  }

  delete({ resource, namespace, name }: ObjectKey): void {
    const previous = this.#resources.get(resource)?.delete(namespace, name);
    if (!previous) return;
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
    for (const sorted of [...this.#resources.values()]) {
      let some = sorted.listAfter(undefined);
      while (some.length > 0) {
        for (const object of some) if (object.revision <= revision) yield object;
        some = sorted.listAfter(some.at(-1)?.key);
      }
    }
  }
}
