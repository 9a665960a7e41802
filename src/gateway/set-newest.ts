/** Sets an entry of `map` and makes it the newest. Above `maxEntries`, the oldest entry is removed. */
export function setNewest<K, V>(map: Map<K, V>, [key, value]: readonly [K, V], maxEntries: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxEntries && oldest !== undefined) map.delete(oldest);
}
