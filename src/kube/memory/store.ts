import { KubeError } from "../client.ts";
import type { KubeObject } from "../object.ts";

/** One write: what was stored before and after. Without `before` it is a creation, without `after` a deletion. */
export interface Change {
  readonly collection: string;
  readonly revision: number;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** Objects under one counter of revisions, and the latest changes for watches to follow. All it stores is frozen. */
export class Store {
  readonly #collections = new Map<string, Map<string, KubeObject>>();
  readonly #streams = new Set<Stream>();
  readonly #keptChanges: number;
  /** By revision, without a gap: from `#forgotten + 1` to `#revision`. */
  readonly #changes = new Map<number, Change>();
  // Not from zero: on a real server version 1 is always too old to continue from.
  #revision = 100;
  #forgotten = 100;

  constructor(keptChanges: number) {
    this.#keptChanges = keptChanges;
  }

  get revision(): string {
    return String(this.#revision);
  }

  get(collection: string, key: string): KubeObject | undefined {
    return this.#collections.get(collection)?.get(key);
  }

  /** In the order of their keys. */
  list(collection: string): KubeObject[] {
    const entries = [...(this.#collections.get(collection) ?? [])];
    return entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  put(collection: string, key: string, object: KubeObject): KubeObject {
    const objects = this.#collections.get(collection) ?? new Map<string, KubeObject>();
    const before = objects.get(key);
    const after = atRevision(object, ++this.#revision);
    this.#collections.set(collection, objects.set(key, after));
    this.#record({ collection, revision: this.#revision, before, after });
    return after;
  }

  remove(collection: string, key: string): void {
    const before = this.get(collection, key);
    this.#collections.get(collection)?.delete(key);
    this.#record({ collection, revision: ++this.#revision, before, after: undefined });
  }

  /** Every change after `version`, those of the past first, until `signal` or `endStreams` ends it quietly. */
  async *changesAfter(version: string, signal?: AbortSignal): AsyncGenerator<Change> {
    if (!/^\d+$/.test(version)) throw new KubeError("invalid", `resourceVersion: Invalid value: "${version}"`);
    const stream: Stream = { ended: signal?.aborted ?? false, wake: () => {} };
    const end = () => endStream(stream);
    signal?.addEventListener("abort", end);
    this.#streams.add(stream);

    try {
      for (let seen = Number(version); !stream.ended; ) {
        if (seen < this.#forgotten) {
          throw new KubeError("gone", `too old resource version: ${seen} (${this.#forgotten})`);
        }
        const change = this.#changes.get(seen + 1);
        if (!change) {
          await new Promise<void>((wake) => Object.assign(stream, { wake }));
          continue;
        }
        seen++;
        yield change;
      }
    } finally {
      this.#streams.delete(stream);
      signal?.removeEventListener("abort", end);
    }
  }

  endStreams(): void {
    for (const stream of this.#streams) endStream(stream);
  }

  /** Counts one revision up, so that even those who had seen everything are too late to continue. */
  forgetChanges(): void {
    this.#forgotten = ++this.#revision;
    this.#changes.clear();
    this.#wakeStreams();
  }

  #record(change: Change) {
    this.#changes.set(change.revision, change);
    if (this.#changes.size > this.#keptChanges) this.#changes.delete(++this.#forgotten);
    this.#wakeStreams();
  }

  #wakeStreams() {
    for (const stream of this.#streams) stream.wake();
  }
}

interface Stream {
  ended: boolean;
  wake(): void;
}

function endStream(stream: Stream) {
  stream.ended = true;
  stream.wake();
}

/** The object at `revision`, frozen. */
export function atRevision(object: KubeObject, revision: number): KubeObject {
  return frozenCopy({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });
}

/** A deep copy as it would come back over the wire, without what is undefined; whoever changes it gets a TypeError. */
export function frozenCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, part) => Object.freeze(part));
}
