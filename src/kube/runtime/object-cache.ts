import type { KubeObject, ObjectRef } from "../object.ts";
import { versionOf } from "./resource-version.ts";

/** The keys under which an object can be found besides its name. Must depend on the object alone. */
export type IndexFunction<T> = (object: T) => readonly string[];

/**
 * What changed, the object as it is now (for DELETED: as it last was), and as it was known before.
 * An object deleted and created anew under its name is DELETED, then ADDED: nobody takes one for the other.
 */
export type ChangeHandler<T> = (event: ChangeEvent, object: T, previous: T | undefined) => void;

export type ChangeEvent = "ADDED" | "MODIFIED" | "DELETED";

export interface ObjectCacheOptions<T, Index extends string> {
  readonly indexes: Readonly<Record<Index, IndexFunction<T>>>;
  /** Told of each change after it was made. */
  readonly changed: ChangeHandler<T>;
  readonly indexFailed: (index: Index, error: unknown) => void;
}

/** Objects by name and by index, as of the newest version seen of each. Hands out what it was given, never a copy. */
export class ObjectCache<T extends KubeObject, Index extends string> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #indexes: ReadonlyMap<Index, IndexOf<T>>;
  readonly #options: ObjectCacheOptions<T, Index>;

  constructor(options: ObjectCacheOptions<T, Index>) {
    this.#options = options;
    const functions = Object.entries(options.indexes) as [Index, IndexFunction<T>][];
    this.#indexes = new Map(functions.map(([name, keysOf]) => [name, { keysOf, entries: new Map() }]));
  }

  get(ref: ObjectRef): T | undefined {
    return this.#entries.get(nameOf(ref))?.object;
  }

  list(): readonly T[] {
    return objectReader(this.#entries.values());
  }

  byIndex(name: Index, key: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (!index) throw new TypeError(`no index "${name}"; there are: ${[...this.#indexes.keys()].join(", ")}`);
    return objectReader(index.entries.get(key) ?? []);
  }

  /** Takes in an object that was added or modified. What is known already, or older than that, changes nothing. */
  put(object: T): void {
    const name = nameOf(object.metadata);
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

  /** Takes in a deletion: the object as it last was, at the version of its end. */
  remove(object: T): void {
    const name = nameOf(object.metadata);
    const known = this.#entries.get(name);
    if (!known || versionOf(object) < known.version) return;
    // The end of a successor we never heard of is the end of what we knew as well.
    const isSame = known.object.metadata.uid === object.metadata.uid;
    this.#drop(name, known, isSame ? object : known.object);
  }

  /** Takes in everything there is as of `version`. */
  replace(objects: readonly T[], version: bigint): void {
    const present = new Set(objects.map(({ metadata }) => nameOf(metadata)));
    for (const [name, known] of this.#entries) {
      // What is newer than the list is not missing from it because it was deleted.
      if (!present.has(name) && known.version <= version) this.#drop(name, known, known.object);
    }
    for (const object of objects) this.put(object);
  }

  #add(name: string, object: T, version: bigint) {
    const entry = { object, version, filed: new Map() };
    this.#entries.set(name, entry);
    this.#file(entry);
    this.#options.changed("ADDED", object, undefined);
  }

  #drop(name: string, known: Entry<T>, last: T) {
    this.#entries.delete(name);
    for (const [index, keys] of known.filed) unfile(index, keys, known);
    this.#options.changed("DELETED", last, known.object);
  }

  /** Puts the entry under the keys its object has now, in every index. */
  #file(entry: Entry<T>) {
    for (const [name, index] of this.#indexes) {
      const before = entry.filed.get(index) ?? [];
      const after = this.#keysOf(entry.object, name, index);
      if (sameKeys(before, after)) continue;
      unfile(index, before, entry);
      entry.filed.set(index, after);
      for (const key of after) {
        const entries = index.entries.get(key);
        if (entries) entries.add(entry);
        else index.entries.set(key, new Set([entry]));
      }
    }
  }

  #keysOf(object: T, name: Index, index: IndexOf<T>): readonly string[] {
    try {
      return index.keysOf(object);
    } catch (error) {
      this.#options.indexFailed(name, error);
      return [];
    }
  }
}

interface Entry<T> {
  object: T;
  version: bigint;
  readonly filed: Map<IndexOf<T>, readonly string[]>;
}

interface IndexOf<T> {
  readonly keysOf: IndexFunction<T>;
  /** No key without an entry. */
  readonly entries: Map<string, Set<Entry<T>>>;
}

function unfile<T>(index: IndexOf<T>, keys: readonly string[], entry: Entry<T>) {
  for (const key of keys) {
    const entries = index.entries.get(key);
    entries?.delete(entry);
    if (entries?.size === 0) index.entries.delete(key);
  }
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, i) => key === b[i]);
}

function objectReader<T>(entries: Iterable<Entry<T>>): readonly T[] {
  const objects: T[] = [];
  for (const { object } of entries) objects.push(object);
  return objects;
}

function nameOf({ namespace = "", name = "" }: Partial<ObjectRef>): string {
  return `${namespace}/${name}`;
}
