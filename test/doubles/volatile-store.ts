import type { Change, ObjectKey, ObjectStore, StoredEntry, WriteDecision } from "../../src/apiserver/object-store.ts";
import { KubeError } from "../../src/kube/index.ts";

/** The default number of changes that watches can start from. */
const defaultKeptChanges = 10_000;

/** A store without a disk: durable means decided. Forgets everything when the process ends. */
export function volatileStore({ keptChanges = defaultKeptChanges } = {}): ObjectStore {
  return new VolatileStore(keptChanges);
}

class VolatileStore implements ObjectStore {
  // Not from zero: on a real server version 1 is always too old to continue from.
  revision = 100;
  compactedRevision = 100;
  readonly #keptChanges: number;
  readonly #collections = new Map<string, Collection>();
  #history: Change[] = [];
  #closed = false;

  constructor(keptChanges: number) {
    this.#keptChanges = keptChanges;
  }

  get(resource: string, namespace: string, name: string): StoredEntry | undefined {
    return this.#collections.get(resource)?.entries.get(keyText(namespace, name));
  }

  list(resource: string, namespace?: string): Iterable<StoredEntry> {
    const entries = this.#collections.get(resource)?.sortedEntries() ?? [];
    return namespace === undefined ? entries : entries.filter(({ key }) => key.namespace === namespace);
  }

  async write<T>(
    key: ObjectKey,
    decide: (current: StoredEntry | undefined, revision: number) => WriteDecision<T>,
  ): Promise<T> {
    if (this.#closed) throw new KubeError("unavailable", "the store is closed");
    const previous = this.get(key.resource, key.namespace, key.name);
    const revision = this.revision + 1;
    const decision = decide(previous, revision);
    if (decision.do === "nothing") return decision.result;

    this.revision = revision;
    const entry = { key, object: decision.object, json: decision.json, revision };
    this.#collection(key.resource).apply(keyText(key.namespace, key.name), decision.do === "put" ? entry : undefined);
    this.#notify({ do: decision.do, key, entry, previous });
    return decision.result;
  }

  watch(resource: string, revision: number, changed: (change: Change) => void): { stop(): void } | undefined {
    if (revision < this.compactedRevision) return undefined;
    for (const change of this.#history) {
      if (change.key.resource === resource && change.entry.revision > revision) changed(change);
    }
    const { watchers } = this.#collection(resource);
    const watcher = (change: Change) => {
      if (change.entry.revision > revision) changed(change);
    };
    watchers.add(watcher);
    return { stop: () => void watchers.delete(watcher) };
  }

  compact(revision: number): void {
    this.compactedRevision = Math.max(this.compactedRevision, Math.min(revision, this.revision));
    this.#history = this.#history.filter(({ entry }) => entry.revision > this.compactedRevision);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #collection(resource: string): Collection {
    let collection = this.#collections.get(resource);
    if (!collection) {
      collection = new Collection();
      this.#collections.set(resource, collection);
    }
    return collection;
  }

  #notify(change: Change) {
    this.#history.push(change);
    if (this.#history.length > 2 * this.#keptChanges) {
      this.compact(this.#history[this.#history.length - this.#keptChanges - 1]?.entry.revision ?? 0);
    }
    for (const watcher of [...this.#collection(change.key.resource).watchers]) watcher(change);
  }
}

/** Objects of one resource. They are sorted on demand, not at every write. */
class Collection {
  readonly entries = new Map<string, StoredEntry>();
  readonly watchers = new Set<(change: Change) => void>();
  #sorted: StoredEntry[] | undefined;

  apply(key: string, entry: StoredEntry | undefined): void {
    if (entry) this.entries.set(key, entry);
    else this.entries.delete(key);
    this.#sorted = undefined;
  }

  sortedEntries(): StoredEntry[] {
    this.#sorted ??= [...this.entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
    return this.#sorted;
  }
}

/** Sorts like namespace, then name: nothing that may stand in either sorts before the separator. */
function keyText(namespace: string, name: string): string {
  return `${namespace}\u0000${name}`;
}
