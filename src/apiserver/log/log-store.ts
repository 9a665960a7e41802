import { GroupCommit } from "../../disk/index.ts";
import { KubeError } from "../../kube/index.ts";
import {
  type Change,
  keyText,
  type ObjectKey,
  type ObjectStore,
  type StoredEntry,
  type WriteDecision,
} from "../object-store.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { ObjectLog } from "./object-log.ts";
import type { ObjectTable } from "./object-table.ts";
import { type Parse, type StoredChange, StoredObject } from "./stored-object.ts";

/** A larger write would delay every caller; the remaining changes are part of the next one. */
const maxBatchCharacters = 4 * 1024 * 1024;

export interface LogStoreParts {
  /** Where the objects are, for messages. */
  readonly directory: string;
  readonly revision: number;
  readonly table: ObjectTable;
  readonly feed: ChangeFeed;
  readonly log: ObjectLog;
  readonly parse: Parse;
}

/**
 * Decides in memory, and resolves when the decision is on disk. Changes gather in a batch while the one before is flushed:
 *
 *     write ─→ next batch ─→ batch that is flushed ─→ table, history and watchers, then the writers
 *
 * Deciders read the newest change; all other readers get the table, which holds durable changes only.
 */
export class LogStore implements ObjectStore {
  readonly #parts: LogStoreParts;
  readonly #commit: GroupCommit<StoredChange>;
  /** The newest change of each key that has changes not yet in the table. */
  readonly #undurable = new Map<string, Pending>();
  #closed: Promise<void> | undefined;
  #revision: number;
  /** The newest revision that a decision used. Those of failed changes are not used again. */
  #takenRevision: number;

  constructor(parts: LogStoreParts) {
    this.#parts = parts;
    this.#revision = parts.revision;
    this.#takenRevision = parts.revision;
    this.#commit = new GroupCommit({
      write: (changes) => this.#write(changes),
      failed: (cause) => this.#toFailure(cause),
      maxBatchSize: maxBatchCharacters,
    });
  }

  get revision(): number {
    return this.#revision;
  }

  get compactedRevision(): number {
    return this.#parts.feed.compactedRevision;
  }

  get(resource: string, namespace: string, name: string): StoredEntry | undefined {
    return this.#parts.table.get(resource, namespace, name);
  }

  list(resource: string, namespace?: string): Iterable<StoredEntry> {
    return this.#parts.table.list(resource, namespace);
  }

  write<T>(
    key: ObjectKey,
    decide: (current: StoredEntry | undefined, revision: number) => WriteDecision<T>,
  ): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(this.#unavailable("it is closed"));
    const pending = this.#undurable.get(keyText(key));
    const current = pending
      ? toStoredObject(pending.change)
      : this.#parts.table.get(key.resource, key.namespace, key.name);
    const revision = this.#takenRevision + 1;

    let decision: WriteDecision<T>;
    try {
      decision = decide(current, revision);
      this.#check(decision, current, revision);
    } catch (error) {
      return after(pending?.durable, () => Promise.reject(error));
    }
    const { result } = decision;
    if (decision.do === "nothing") return after(pending?.durable, () => result);

    const entry = new StoredObject(key, revision, decision.json, this.#parts.parse, decision.object);
    return after(this.#gather({ do: decision.do, key, entry, previous: current }), () => result);
  }

  watch(resource: string, revision: number, changed: (change: Change) => void): { stop(): void } | undefined {
    return this.#parts.feed.watch(resource, revision, changed);
  }

  compact(revision: number): void {
    this.#parts.feed.compact(Math.min(revision, this.#revision));
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close() {
    await this.#commit.idle();
    this.#parts.feed.close();
    await this.#parts.log.close();
    this.#parts.table.close();
  }

  #check(decision: WriteDecision<unknown>, current: StoredEntry | undefined, revision: number) {
    if (this.#takenRevision !== revision - 1) throw new TypeError("decide must not write: it runs inside a write");
    if (decision.do === "nothing") return;
    if (decision.do === "delete" && !current) throw new TypeError("there is nothing to delete");
    if (decision.object.metadata.resourceVersion === String(revision)) return;
    throw new TypeError(`the object must carry resourceVersion ${revision}, the revision that decide was given`);
  }

  #gather(change: StoredChange): Promise<void> {
    this.#takenRevision = change.entry.revision;
    const durable = this.#commit.add(change, change.entry.characters);
    this.#undurable.set(keyText(change.key), { change, durable });
    return durable;
  }

  async #write(changes: readonly StoredChange[]) {
    await this.#parts.log.append(changes);
    const { table, feed } = this.#parts;
    for (const change of changes) {
      const { do: kind, key, entry } = change;
      if (kind === "put") table.put(entry);
      else table.delete(key);
      if (this.#undurable.get(keyText(key))?.change === change) this.#undurable.delete(keyText(key));
      this.#revision = entry.revision;
    }
    feed.publish(changes);
    // Not before: watchers read the text that is about to leave memory.
    for (const { do: kind, entry } of changes) if (kind === "put") table.spill(entry);
  }

  /** Every change that waits is rejected with the one that failed: it was decided on the result of that one. */
  #toFailure(cause: Error): KubeError {
    this.#undurable.clear();
    return this.#unavailable(cause.message, cause);
  }

  #unavailable(why: string, cause?: unknown): KubeError {
    return new KubeError("unavailable", `the store in ${this.#parts.directory} rejected the change: ${why}`, { cause });
  }
}

interface Pending {
  readonly change: StoredChange;
  readonly durable: Promise<void>;
}

/** The object after the change; undefined when it is deleted. */
function toStoredObject({ do: kind, entry }: StoredChange): StoredObject | undefined {
  return kind === "put" ? entry : undefined;
}

/** Resolves with the result of a decision when the changes that it depends on are durable. */
function after<T>(durable: Promise<void> | undefined, result: () => T | Promise<T>): Promise<T> {
  return durable === undefined ? new Promise((resolve) => resolve(result())) : durable.then(result);
}
