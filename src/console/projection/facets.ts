import type { RowEntry } from "./entry.ts";
import { SortedList } from "./sorted-list.ts";

/** The values that most pages are filtered by. */
export type FacetName = "lane" | "phase" | "target";

/** Targets are many, so those with the same hash share a list. */
const targetLists = 1_024;

export function newestFirst(): SortedList<RowEntry> {
  return new SortedList(({ createdSec }) => createdSec);
}

/** The entries of a kind by the values of each facet, newest first: a page with such a filter looks at few others. */
export class Facets {
  readonly #lanes = new Map<string, SortedList<RowEntry>>();
  readonly #phases = new Map<string, SortedList<RowEntry>>();
  readonly #targets = new Map<number, SortedList<RowEntry>>();

  add(entry: RowEntry): void {
    listIn(this.#lanes, entry.lane).add(entry);
    listIn(this.#phases, entry.phase).add(entry);
    if (entry.target !== "") listIn(this.#targets, targetHash(entry.target)).add(entry);
  }

  remove(entry: RowEntry): void {
    this.#lanes.get(entry.lane)?.remove(entry);
    this.#phases.get(entry.phase)?.remove(entry);
    this.#targets.get(targetHash(entry.target))?.remove(entry);
  }

  /** Returns the list with every entry of this value; that of a target has others as well. Undefined if there is none. */
  find(name: FacetName, value: string): SortedList<RowEntry> | undefined {
    switch (name) {
      case "lane":
        return this.#lanes.get(value);
      case "phase":
        return this.#phases.get(value);
      case "target":
        return this.#targets.get(targetHash(value));
    }
  }
}

function listIn<K>(lists: Map<K, SortedList<RowEntry>>, key: K): SortedList<RowEntry> {
  const found = lists.get(key) ?? newestFirst();
  lists.set(key, found);
  return found;
}

function targetHash(target: string): number {
  let hash = 0;
  for (let i = 0; i < target.length; i++) hash = (hash * 31 + target.charCodeAt(i)) % targetLists;
  return hash;
}
