interface GroupCommitOptions<T> {
  /** Makes all `entries` durable, or rejects. */
  readonly write: (entries: readonly T[]) => Promise<void>;
  /** Called after a failed write, in the turn in which all waiting entries are rejected. Returns the callers' error. */
  readonly failed: (cause: Error) => Error;
  /** The total size of entries that are written together; a single larger entry is written alone. */
  readonly maxBatchSize?: number;
}

interface Batch<T> {
  readonly entries: T[];
  size: number;
  readonly written: Promise<void>;
  /** Rejects if there is an error. */
  readonly finish: (error?: Error) => void;
}

/**
 * Writes one batch at a time. Entries added while a write is under way are written together next, so that many callers
 * share one sync. When a write fails, the waiting entries fail with it: they may build on an entry that is not durable.
 */
export class GroupCommit<T> {
  readonly #options: GroupCommitOptions<T>;
  /** In order, without the one that is being written; entries are added to the last. */
  #waiting: Batch<T>[] = [];
  #waitingSize = 0;
  #flushing: Promise<void> | undefined;

  constructor(options: GroupCommitOptions<T>) {
    this.#options = options;
  }

  /** Of all entries whose write has not begun. */
  get waitingSize(): number {
    return this.#waitingSize;
  }

  /** Resolves when `entry` is written. Entries that are written together get the same promise. */
  add(entry: T, size: number): Promise<void> {
    const { maxBatchSize = Number.POSITIVE_INFINITY } = this.#options;
    let batch = this.#waiting.at(-1);
    if (!batch || batch.size + size > maxBatchSize) {
      batch = newBatch<T>();
      this.#waiting.push(batch);
    }
    batch.entries.push(entry);
    batch.size += size;
    this.#waitingSize += size;
    this.#flushing ??= this.#flush();
    return batch.written;
  }

  /** Resolves when every entry that was added has been written or rejected. */
  async idle(): Promise<void> {
    await this.#flushing;
  }

  async #flush() {
    // Before each write, every caller that is ready to add an entry gets to do so, and shares the write.
    await readyCallbacks();
    for (let batch = this.#waiting.shift(); batch; batch = this.#waiting.shift()) {
      this.#waitingSize -= batch.size;
      try {
        await this.#options.write(batch.entries);
        batch.finish();
      } catch (cause) {
        const error = this.#options.failed(cause as Error);
        for (const rejected of [batch, ...this.#waiting]) rejected.finish(error);
        this.#waiting = [];
        this.#waitingSize = 0;
      }
      await readyCallbacks();
    }
    this.#flushing = undefined;
  }
}

function newBatch<T>(): Batch<T> {
  let finish: Batch<T>["finish"] = () => {};
  const written = new Promise<void>((resolve, reject) => {
    finish = (error) => (error ? reject(error) : resolve());
  });
  return { entries: [], size: 0, written, finish };
}

/** A tick requested inside a microtask comes after all microtasks, including those that they start in turn. */
function readyCallbacks(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}
