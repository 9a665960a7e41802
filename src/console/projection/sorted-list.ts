/** A place in a sorted list: the latest time first, and by key within the same second. */
export interface Position {
  readonly sec: number;
  readonly key: string;
}

/** A chunk of more items is split. Adding or removing an item moves at most the items of one chunk. */
const maxChunkLength = 512;

/** Items by their time, the latest first, then by key. Every operation is fast with hundreds of thousands of items. */
export class SortedList<T extends { readonly key: string }> {
  readonly #secOf: (item: T) => number;
  /** None is empty. */
  readonly #chunks: T[][] = [];

  constructor(secOf: (item: T) => number) {
    this.#secOf = secOf;
  }

  position(item: T): Position {
    return { sec: this.#secOf(item), key: item.key };
  }

  get size(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  add(item: T): void {
    const position = this.position(item);
    const [first] = this.#chunks;
    if (!first) return void this.#chunks.push([item]);
    const i = this.#chunkAt(position);
    const chunk = this.#chunks[i] ?? first;
    chunk.splice(this.#indexIn(chunk, position), 0, item);
    if (chunk.length > maxChunkLength) this.#chunks.splice(i + 1, 0, chunk.splice(maxChunkLength / 2));
  }

  /** Removes the item at the position of `item`. */
  remove(item: T): void {
    const position = this.position(item);
    const i = this.#chunkAt(position);
    const chunk = this.#chunks[i];
    if (!chunk) return;
    const at = this.#indexIn(chunk, position);
    const found = chunk[at];
    if (found === undefined || this.#compare(found, position) !== 0) return;
    chunk.splice(at, 1);
    if (chunk.length === 0) this.#chunks.splice(i, 1);
  }

  /** Returns up to `count` items behind `position`, which need not be that of an item; the first ones without it. */
  after(position: Position | undefined, count: number): readonly T[] {
    const items: T[] = [];
    let i = position ? this.#chunkAt(position) : 0;
    let at = position ? this.#indexBehind(this.#chunks[i] ?? [], position) : 0;
    for (; i < this.#chunks.length && items.length < count; i++) {
      const chunk = this.#chunks[i] ?? [];
      items.push(...chunk.slice(at, at + count - items.length));
      at = 0;
    }
    return items;
  }

  /** The number of items before `position`. */
  countBefore(position: Position): number {
    const last = this.#chunkAt(position);
    const before = this.#chunks.slice(0, last).reduce((sum, chunk) => sum + chunk.length, 0);
    return before + this.#indexIn(this.#chunks[last] ?? [], position);
  }

  /** The last chunk that does not begin behind `position`. */
  #chunkAt(position: Position): number {
    const begins = firstWhere(this.#chunks.length, (i) => {
      const first = this.#chunks[i]?.[0];
      return first !== undefined && this.#compare(first, position) > 0;
    });
    return Math.max(0, begins - 1);
  }

  #indexIn(chunk: readonly T[], position: Position): number {
    return firstWhere(chunk.length, (i) => this.#compare(chunk[i] as T, position) >= 0);
  }

  #indexBehind(chunk: readonly T[], position: Position): number {
    return firstWhere(chunk.length, (i) => this.#compare(chunk[i] as T, position) > 0);
  }

  #compare(item: T, { sec, key }: Position): number {
    const difference = sec - this.#secOf(item);
    if (difference !== 0) return difference;
    return item.key === key ? 0 : item.key < key ? -1 : 1;
  }
}

/** Whether `one` comes after `other`. */
export function isBehind(one: Position, other: Position): boolean {
  return one.sec === other.sec ? one.key > other.key : one.sec < other.sec;
}

/** The first index for which `is` holds, which then holds for all later ones; `length` if for none. */
function firstWhere(length: number, is: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (is(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
