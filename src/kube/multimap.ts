/**
 * Several values by one key. Most keys have a single value, which is kept without a collection of its own: among thousands of
 * keys those collections would take most of the memory.
 */
export class Multimap<V extends object> {
  readonly #values = new Map<string, V | Several<V>>();

  get(key: string): Iterable<V> {
    const values = this.#values.get(key);
    if (values === undefined) return [];
    return values instanceof Several ? values : [values];
  }

  add(key: string, value: V): void {
    const values = this.#values.get(key);
    if (values instanceof Several) values.add(value);
    else if (values === undefined) this.#values.set(key, value);
    else if (values !== value) this.#values.set(key, new Several([values, value]));
  }

  delete(key: string, value: V): void {
    const values = this.#values.get(key);
    if (values instanceof Several) values.delete(value);
    if (values === value || (values instanceof Several && values.size === 0)) this.#values.delete(key);
  }
}

class Several<V> extends Set<V> {}

/** Sets an entry of `map` and makes it the newest. Above `maxEntries`, the oldest entry is removed. */
export function setNewest<K, V>(map: Map<K, V>, [key, value]: readonly [K, V], maxEntries: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxEntries && oldest !== undefined) map.delete(oldest);
}
