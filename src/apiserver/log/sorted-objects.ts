import type { ObjectKey } from "../object-store.ts";
import type { StoredObject } from "./stored-object.ts";

/** Small enough to be copied for each change, large enough to keep the number of chunks small. */
const maxInChunk = 64;

type Chunk = readonly StoredObject[];

/**
 * Objects in the order of namespace and name. A change costs the copy of one small chunk; in return a list is a view
 * of its moment that costs nothing to take, and changes meanwhile do not affect its readers.
 */
export class SortedObjects {
  /** None is empty; the last object of each comes before the first of the next. */
  readonly #chunks: Chunk[] = [];

  /** Returns the object that `object` replaces, if any. */
  set(object: StoredObject): StoredObject | undefined {
    const { index, chunk, at, object: previous } = this.#find(object.key.namespace, object.key.name);
    if (previous) this.#chunks[index] = chunk.with(at, object);
    else this.#chunks.splice(index, 1, ...splitChunk(chunk.toSpliced(at, 0, object)));
    return previous;
  }

  /** Returns the object that was removed, if there was one. */
  delete(namespace: string, name: string): StoredObject | undefined {
    const { index, chunk, at, object } = this.#find(namespace, name);
    if (!object) return undefined;
    if (chunk.length > 1) this.#chunks[index] = chunk.toSpliced(at, 1);
    else this.#chunks.splice(index, 1);
    return object;
  }

  /** A view of the current objects, which later changes do not affect. */
  all(): Iterable<StoredObject> {
    return objectReader(this.#chunks.slice());
  }

  /**
   * Some of the objects that follow `key`, or the first ones; none at the end. For reading everything slowly without keeping
   * replaced objects in memory.
   */
  listAfter(key: Pick<ObjectKey, "namespace" | "name"> | undefined): readonly StoredObject[] {
    if (!key) return this.#chunks[0] ?? [];
    const { index, chunk, at, object } = this.#find(key.namespace, key.name);
    const rest = chunk.slice(object ? at + 1 : at);
    return rest.length > 0 ? rest : (this.#chunks[index + 1] ?? []);
  }

  /** Like `all`, for one namespace. */
  in(namespace: string): Iterable<StoredObject> {
    // The string that comes right after the namespace: nothing lies between the two.
    const next = `${namespace}\u0000`;
    const first = this.#findChunk(namespace, "");
    const chunks = this.#chunks.slice(first, this.#findChunk(next, "") + 1);
    const last = chunks.length - 1;
    if (last < 0) return [];
    // From the end, because both may be in the same chunk.
    chunks[last] = chunks[last]?.slice(0, findPosition(chunks[last], next, "")) ?? [];
    chunks[0] = chunks[0]?.slice(findPosition(chunks[0], namespace, "")) ?? [];
    return objectReader(chunks);
  }

  /** Where the object with this key is, or belongs. */
  #find(namespace: string, name: string) {
    const index = this.#findChunk(namespace, name);
    const chunk = this.#chunks[index] ?? [];
    const at = findPosition(chunk, namespace, name);
    const found = chunk[at];
    return { index, chunk, at, object: found && compare(found, namespace, name) === 0 ? found : undefined };
  }

  /** The last chunk that does not begin behind the key, or the first: where the key is, or belongs. */
  #findChunk(namespace: string, name: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(firstObject(this.#chunks, middle), namespace, name) <= 0) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

function objectReader(chunks: readonly Chunk[]): Iterable<StoredObject> {
  return {
    *[Symbol.iterator]() {
      for (const chunk of chunks) for (const object of chunk) yield object;
    },
  };
}

function splitChunk(chunk: Chunk): Chunk[] {
  if (chunk.length <= maxInChunk) return [chunk];
  return [chunk.slice(0, maxInChunk / 2), chunk.slice(maxInChunk / 2)];
}

/** The first position that is not before the key. */
function findPosition(chunk: Chunk, namespace: string, name: string): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(chunk[middle] as StoredObject, namespace, name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compare({ key }: StoredObject, namespace: string, name: string): number {
  if (key.namespace !== namespace) return key.namespace < namespace ? -1 : 1;
  if (key.name !== name) return key.name < name ? -1 : 1;
  return 0;
}

function firstObject(chunks: readonly Chunk[], index: number): StoredObject {
  return chunks[index]?.[0] as StoredObject;
}
