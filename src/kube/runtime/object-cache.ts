import { Multimap } from "../multimap.ts";
import type { KubeObject, ObjectRef } from "../object.ts";

/** Returns the index keys of an object. Must depend on the object alone. */
export type IndexFunction<T> = (object: T) => readonly string[];

/**
 * Receives the kind of change, the current object (for DELETED: its last version), and the previous version in the cache.
 * An object that was deleted and created again with its name is DELETED, then ADDED, so that the two are not confused.
 */
export type ChangeHandler<T> = (event: ChangeEvent, object: T, previous: T | undefined) => void;

export type ChangeEvent = "ADDED" | "MODIFIED" | "DELETED";

export interface ObjectCacheOptions<T, Index extends string> {
  readonly indexes: Readonly<Record<Index, IndexFunction<T>>>;
  /** Called after each change. */
  readonly changed: ChangeHandler<T>;
  readonly indexFailed: (index: Index, error: unknown) => void;
}

/** Objects by name and by index, each in the newest version that was received. Returns the objects themselves, not copies. */
export class ObjectCache<T extends KubeObject, Index extends string> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #indexes: readonly ObjectIndex<T, Index>[];
  readonly #options: ObjectCacheOptions<T, Index>;

  constructor(options: ObjectCacheOptions<T, Index>) {
    this.#options = options;
    const functions = Object.entries(options.indexes) as [Index, IndexFunction<T>][];
    this.#indexes = functions.map(([name, keysOf]) => ({ name, keysOf, entries: new Multimap() }));
  }

  get(ref: ObjectRef): T | undefined {
    return this.#entries.get(refKey(ref))?.object;
  }

  list(): readonly T[] {
    return objectReader(this.#entries.values());
  }

  byIndex(name: Index, key: string): readonly T[] {
    const index = this.#indexes.find((index) => index.name === name);
    if (!index) throw new TypeError(`no index "${name}"; there are: ${Object.keys(this.#options.indexes).join(", ")}`);
    return objectReader(index.entries.get(key));
  }

  /** Stores an object that was added or modified. A version that is not newer than the cached one is ignored. */
  put(object: T): void {
    const name = refKey(object.metadata);
    const version = versionOf(object);
    const known = this.#entries.get(name);
    if (known && version <= known.version) return;

    if (!known) return this.#add(name, object, version);
    if (known.object.metadata.uid !== object.metadata.uid) {
      this.#drop(name, known, known.object);
      return this.#add(name, object, version);
    }
    const previous = known.object;
    known.object = object;
    known.version = version;
    this.#file(known);
    this.#options.changed("MODIFIED", object, previous);
  }

  /** Removes an object, given as its last state with the version of the deletion. */
  remove(object: T): void {
    const name = refKey(object.metadata);
    const known = this.#entries.get(name);
    if (!known || versionOf(object) < known.version) return;
    // If it is the deletion of a successor that was never received, the cached object was deleted before.
    const isSame = known.object.metadata.uid === object.metadata.uid;
    this.#drop(name, known, isSame ? object : known.object);
  }

  /** Replaces the content with the complete list as of `version`. */
  replace(objects: readonly T[], version: bigint): void {
    const present = new Set(objects.map(({ metadata }) => refKey(metadata)));
    for (const [name, known] of this.#entries) {
      // An object that is newer than the list may be missing there without being deleted.
      if (!present.has(name) && known.version <= version) this.#drop(name, known, known.object);
    }
    for (const object of objects) this.put(object);
  }

  #add(name: string, object: T, version: bigint) {
    const entry = { object, version, keys: [] };
    this.#entries.set(name, entry);
    this.#file(entry);
    this.#options.changed("ADDED", object, undefined);
  }

  #drop(name: string, known: Entry<T>, last: T) {
    this.#entries.delete(name);
    for (const [i, index] of this.#indexes.entries()) unfile(index, known.keys[i] ?? [], known);
    this.#options.changed("DELETED", last, known.object);
  }

  /** Updates every index to the current keys of the entry's object. */
  #file(entry: Entry<T>) {
    for (const [i, index] of this.#indexes.entries()) {
      const before = entry.keys[i] ?? noKeys;
      const after = this.#keysOf(entry.object, index);
      if (sameKeys(before, after)) {
        entry.keys[i] = before;
        continue;
      }
      unfile(index, before, entry);
      entry.keys[i] = after;
      for (const key of after) index.entries.add(key, entry);
    }
  }

  #keysOf(object: T, { name, keysOf }: ObjectIndex<T, Index>): readonly string[] {
    try {
      return keysOf(object);
    } catch (error) {
      this.#options.indexFailed(name, error);
      return noKeys;
    }
  }
}

interface Entry<T> {
  object: T;
  version: bigint;
  /** Under which keys each index has it, in the order of the indexes. */
  readonly keys: (readonly string[])[];
}

interface ObjectIndex<T, Index> {
  readonly name: Index;
  readonly keysOf: IndexFunction<T>;
  readonly entries: Multimap<Entry<T>>;
}

const noKeys: readonly string[] = [];

function unfile<T>({ entries }: ObjectIndex<T, string>, keys: readonly string[], entry: Entry<T>) {
  for (const key of keys) entries.delete(key, entry);
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, i) => key === b[i]);
}

function objectReader<T>(entries: Iterable<Entry<T>>): readonly T[] {
  const objects: T[] = [];
  for (const { object } of entries) objects.push(object);
  return objects;
}

function refKey({ namespace = "", name = "" }: Partial<ObjectRef>): string {
  return `${namespace}/${name}`;
}

/** Versions are ordered as integers: as text "9" would come after "10", and a double is exact only up to 2^53. */
export function versionOf(object: KubeObject): bigint {
  const { resourceVersion, name } = object.metadata;
  if (!resourceVersion) throw new TypeError(`"${name}" has no resourceVersion: it does not come from a server`);
  return BigInt(resourceVersion);
}
