import type { Entry, ObjectKey, ObjectStore } from "../../src/apiserver/object-store.ts";
import { machineMs } from "../locks/machine-time.ts";
import { median } from "../locks/quantile.ts";
import { keyOf } from "./sample.ts";

export interface GetFigures {
  readonly getPerSecond: number;
  /** The same look-ups in one Map whose keys are ready made: what a get can cost at least. */
  readonly bareMapGetsPerSecond: number;
  readonly listNamespaceMs: number;
}

/** Reads of `objects` objects in an order that no cache likes. */
export function gets(
  store: ObjectStore,
  objects: number,
  { rounds, reads }: { rounds: number; reads: number },
): GetFigures {
  const keys = Array.from({ length: 10_000 }, (_, i) => keyOf((i * 7_919) % objects));
  const texts = keys.map(textOf);
  const map = new Map<string, Entry>();
  // By their keys: the engine would hold 100,000 parsed objects until the end of this job, in a set that each read looks up.
  for (const entry of store.list(keyOf(0).resource)) map.set(textOf(entry.key), entry);

  const ours: number[] = [];
  const bare: number[] = [];
  const lists: number[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(perSecond(reads, (i) => get(store, keys[i % keys.length] as ObjectKey)));
    bare.push(perSecond(reads, (i) => map.get(texts[i % texts.length] as string)?.object));
    lists.push(1_000 / perSecond(1, () => [...store.list(keyOf(0).resource, keyOf(round).namespace)]));
  }
  return { getPerSecond: median(ours), bareMapGetsPerSecond: median(bare), listNamespaceMs: median(lists) };
}

function get(store: ObjectStore, { resource, namespace, name }: ObjectKey) {
  return store.get(resource, namespace, name)?.object;
}

function perSecond(count: number, read: (i: number) => unknown): number {
  const startedAt = machineMs();
  let found = 0;
  for (let i = 0; i < count; i++) if (read(i)) found++;
  const ms = machineMs() - startedAt;
  if (found !== count) throw new Error(`${count - found} of ${count} objects were not found`);
  return (1_000 * count) / ms;
}

function textOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
