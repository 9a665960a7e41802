import type { Change } from "../object-store.ts";
import type { StoredChange } from "./stored-object.ts";

export interface HistoryLimits {
  readonly changes: number;
  /** Of the JSON of these changes, and of what they replaced: a few huge objects must not take all memory. */
  readonly characters: number;
}

/** Notifies watchers of changes, and keeps the latest changes for watchers that resume. */
export class ChangeFeed {
  readonly #limits: HistoryLimits;
  readonly #watchers = new Map<string, Set<Watcher>>();
  /** In the order of revisions. Those before `#start` are forgotten; they are cut off when they are half of the array. */
  #changes: (StoredChange | undefined)[] = [];
  #start = 0;
  #characters = 0;
  /** Of the replaced objects, whose texts only the history keeps in memory. */
  #replacedCharacters = 0;
  #compactedRevision: number;

  constructor(revision: number, limits: HistoryLimits) {
    this.#compactedRevision = revision;
    this.#limits = limits;
  }

  get compactedRevision(): number {
    return this.#compactedRevision;
  }

  /** All `changes` are stored before the first is published: a watch that starts in between misses none. */
  publish(changes: readonly StoredChange[]): void {
    for (const change of changes) this.#remember(change);
    for (const change of changes) {
      for (const watcher of this.#watchers.get(change.key.resource) ?? []) notify(watcher, change);
    }
  }

  watch(resource: string, revision: number, changed: (change: Change) => void): { stop(): void } | undefined {
    if (revision < this.#compactedRevision) return undefined;
    const watcher: Watcher = { changed, seen: revision };
    for (const change of this.#changes.slice(this.#firstAfter(revision))) {
      if (change?.key.resource !== resource) continue;
      watcher.seen = change.entry.revision;
      changed(change);
    }
    const watchers = this.#watchers.get(resource) ?? new Set();
    this.#watchers.set(resource, watchers.add(watcher));
    return { stop: () => void watchers.delete(watcher) };
  }

  compact(revision: number): void {
    while (this.#oldest && this.#oldest.entry.revision <= revision) this.#forgetOldest();
    this.#compactedRevision = Math.max(this.#compactedRevision, revision);
  }

  close(): void {
    this.#watchers.clear();
  }

  get #oldest(): StoredChange | undefined {
    return this.#changes[this.#start];
  }

  #remember(change: StoredChange) {
    this.#changes.push(change);
    this.#characters += change.entry.characters;
    this.#replacedCharacters += change.previous?.characters ?? 0;
    const { changes, characters } = this.#limits;
    const isTooLarge = () => Math.max(this.#characters, this.#replacedCharacters) > characters;
    while (this.#changes.length - this.#start > changes || isTooLarge()) this.#forgetOldest();
  }

  #forgetOldest() {
    const { entry, previous } = this.#oldest as StoredChange;
    // Released at once: until the array is cut, it could hold twice the allowed memory.
    this.#changes[this.#start] = undefined;
    this.#characters -= entry.characters;
    this.#replacedCharacters -= previous?.characters ?? 0;
    this.#compactedRevision = entry.revision;
    this.#start++;
    if (2 * this.#start < this.#changes.length) return;
    this.#changes = this.#changes.slice(this.#start);
    this.#start = 0;
  }

  #firstAfter(revision: number): number {
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#changes[middle] as Change).entry.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

interface Watcher {
  readonly changed: (change: Change) => void;
  /** The newest revision that was passed to it, or before which it began. */
  seen: number;
}

function notify(watcher: Watcher, change: Change) {
  if (change.entry.revision <= watcher.seen) return;
  watcher.seen = change.entry.revision;
  try {
    watcher.changed(change);
  } catch (error) {
    // An error of one watcher must affect neither the other watchers nor the writer.
    queueMicrotask(() => {
      throw error;
    });
  }
}
