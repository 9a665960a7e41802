import { KubeError } from "../../client.ts";
import type { Change, Decision, ObjectKey, ObjectStore, StoredEntry } from "../object-store.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { LogJournal } from "./log-journal.ts";
import type { ObjectTable } from "./object-table.ts";
import { type Parse, type StoredChange, StoredObject } from "./stored-object.ts";

/** A flush of more than this would keep everybody waiting; what is left goes with the next. */
const mostCharactersInBatch = 4 * 1024 * 1024;

export interface LogStoreParts {
  /** Where the objects are, for messages. */
  readonly directory: string;
  readonly revision: number;
  readonly table: ObjectTable;
  readonly feed: ChangeFeed;
  readonly journal: LogJournal;
  readonly parse: Parse;
}

/**
 * Decides in memory, answers from disk. Changes gather in a batch while the one before them is being flushed:
 *
 *     write ─→ batch that gathers ─→ batch that is flushed ─→ table, history and watchers, then the writers' answers
 *
 * Deciders see through to the newest change; everybody else sees the table, which holds only what is durable.
 */
export class LogStore implements ObjectStore {
  readonly #parts: LogStoreParts;
  /** The newest change of each key that has changes not yet in the table. */
  readonly #undurable = new Map<string, Pending>();
  /** In order, without the one that is being flushed; changes are added to the last. */
  #waiting: Batch[] = [];
  #newest: Batch | undefined;
  #isFlushing = false;
  #closed: Promise<void> | undefined;
  #revision: number;
  /** The newest that a decision took; those of changes that failed are not given again. */
  #takenRevision: number;

  constructor(parts: LogStoreParts) {
    this.#parts = parts;
    this.#revision = parts.revision;
    this.#takenRevision = parts.revision;
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

  write<T>(key: ObjectKey, decide: (current: StoredEntry | undefined, revision: number) => Decision<T>): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(this.#unavailable("it is closed"));
    const pending = this.#undurable.get(textOf(key));
    const current = pending ? pending.after : this.#parts.table.get(key.resource, key.namespace, key.name);
    const revision = this.#takenRevision + 1;

    let decision: Decision<T>;
    try {
      decision = decide(current, revision);
      this.#check(decision, current, revision);
    } catch (error) {
      return after(pending?.batch, () => Promise.reject(error));
    }
    const { result } = decision;
    if (decision.do === "nothing") return after(pending?.batch, () => result);

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
    // Whether it succeeds is told to its writers; here it only matters that it has ended, and with it all before it.
    await this.#newest?.durable.catch(() => {});
    this.#parts.feed.close();
    await this.#parts.journal.close();
    this.#parts.table.close();
  }

  #check(decision: Decision<unknown>, current: StoredEntry | undefined, revision: number) {
    if (this.#takenRevision !== revision - 1) throw new TypeError("decide must not write: it runs inside a write");
    if (decision.do === "nothing") return;
    if (decision.do === "delete" && !current) throw new TypeError("there is nothing to delete");
    if (decision.object.metadata.resourceVersion === String(revision)) return;
    throw new TypeError(`the object must carry resourceVersion ${revision}, the revision that decide was given`);
  }

  #gather(change: StoredChange): Batch {
    let batch = this.#waiting.at(-1);
    if (!batch || batch.characters > mostCharactersInBatch) {
      batch = new Batch();
      this.#newest = batch;
      this.#waiting.push(batch);
    }
    batch.changes.push(change);
    batch.characters += change.entry.characters;
    this.#takenRevision = change.entry.revision;
    this.#undurable.set(textOf(change.key), { after: change.do === "put" ? change.entry : undefined, batch });
    this.#scheduleFlush();
    return batch;
  }

  /** Not at once: first everybody who has just been answered gets to write again, and shares the flush. */
  #scheduleFlush() {
    if (this.#isFlushing || this.#waiting.length === 0) return;
    this.#isFlushing = true;
    // A tick asked for inside a microtask comes after all microtasks, those they start in turn included.
    queueMicrotask(() => process.nextTick(() => void this.#flush()));
  }

  async #flush() {
    const batch = this.#waiting.shift() as Batch;
    const failure = await this.#parts.journal.append(batch.changes).catch((error: Error) => error);
    if (failure) this.#giveUp(batch, failure);
    else this.#show(batch);
    this.#isFlushing = false;
    this.#scheduleFlush();
  }

  #show(batch: Batch) {
    const { table, feed } = this.#parts;
    for (const { do: kind, key, entry } of batch.changes) {
      if (kind === "put") table.put(entry);
      else table.delete(key);
      if (this.#undurable.get(textOf(key))?.batch === batch) this.#undurable.delete(textOf(key));
      this.#revision = entry.revision;
    }
    batch.settle();
    feed.publish(batch.changes);
    // Not before: watchers read the text that is about to leave memory.
    for (const { do: kind, entry } of batch.changes) if (kind === "put") table.spill(entry);
  }

  /** Later batches go down with the one that failed: they were decided on what it would have done. */
  #giveUp(failed: Batch, cause: Error) {
    const error = this.#unavailable(cause.message, cause);
    const batches = [failed, ...this.#waiting];
    this.#waiting = [];
    this.#undurable.clear();
    for (const batch of batches) batch.settle(error);
  }

  #unavailable(why: string, cause?: unknown): KubeError {
    return new KubeError("unavailable", `the store in ${this.#parts.directory} took no change: ${why}`, { cause });
  }
}

interface Pending {
  /** Undefined when the object is deleted. */
  readonly after: StoredObject | undefined;
  readonly batch: Batch;
}

/** Changes that become durable together. */
class Batch {
  readonly changes: StoredChange[] = [];
  characters = 0;
  readonly durable: Promise<void>;
  #resolve: () => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor() {
    this.durable = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  settle(error?: Error): void {
    if (error) this.#reject(error);
    else this.#resolve();
  }
}

/** The answer of a decision, once what it saw is durable: at once if there is no batch to wait for. */
function after<T>(batch: Batch | undefined, answer: () => T | Promise<T>): Promise<T> {
  return batch ? batch.durable.then(answer) : new Promise((resolve) => resolve(answer()));
}

function textOf({ resource, namespace, name }: ObjectKey): string {
  return `${resource}/${namespace}/${name}`;
}
