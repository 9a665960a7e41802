import { crc32 } from "node:zlib";
import type { LogSpace } from "../../src/apiserver/log/object-log.ts";
import { openLogStore } from "../../src/apiserver/log/open-log-store.ts";
import type { ObjectStore, WriteDecision } from "../../src/apiserver/object-store.ts";
import { systemClock } from "../../src/time/index.ts";
import { Dice } from "../chaos/dice.ts";
import { writeLine } from "./write-line.ts";

export interface WriterPlan {
  readonly directory: string;
  readonly objects: number;
  readonly seed: number;
  readonly space?: LogSpace;
}

// A process that writes as fast as it can until it is killed, and prints on stdout what it was answered:
//
//     open REVISION            the store is open
//     full                     all objects were there once
//     deleting NAME            a deletion was asked for
//     put|deleted NAME REVISION
//     seen REVISION            a watcher got it
//
// It begins when stdin does: starting Node takes longer than most lives last.
const plan = JSON.parse(process.argv[2] ?? "") as WriterPlan;
process.stdin.once("data", () => void main());

const resource = "things";
const namespace = "here";
const loops = 16;

async function main() {
  const { directory, objects, space } = plan;
  const store = await openLogStore({ directory, parse: JSON.parse, clock: systemClock(), ...(space && { space }) });
  writeLine(`open ${store.revision}`);
  store.watch(resource, store.revision, ({ entry }) => writeLine(`seen ${entry.revision}`));

  const missing: string[] = [];
  for (let i = 0; i < objects; i++) if (!store.get(resource, namespace, nameOf(i))) missing.push(nameOf(i));
  await inLoops(async (loop) => {
    for (let i = loop; i < missing.length; i += loops) await put(store, missing[i] as string, 300);
  });
  writeLine("full");
  await inLoops((loop) => writeForEver(store, loop));
}

/** One loop per object, so that no more than one change of an object is ever unanswered. */
async function writeForEver(store: ObjectStore, loop: number) {
  const dice = new Dice(plan.seed + loop);
  for (;;) {
    const name = nameOf(dice.whole(0, Math.floor((plan.objects - 1 - loop) / loops)) * loops + loop);
    if (dice.chance(0.15) && store.get(resource, namespace, name)) await remove(store, name);
    else await put(store, name, dice.whole(0, 1_200));
  }
}

async function put(store: ObjectStore, name: string, length: number) {
  const key = { resource, namespace, name };
  const revision = await store.write(key, (_, revision) => change("put", name, revision, textOf(revision, length)));
  writeLine(`put ${name} ${revision}`);
}

async function remove(store: ObjectStore, name: string) {
  writeLine(`deleting ${name}`);
  const revision = await store.write({ resource, namespace, name }, (_, revision) =>
    change("delete", name, revision, ""),
  );
  writeLine(`deleted ${name} ${revision}`);
}

function change(kind: "put" | "delete", name: string, revision: number, text: string): WriteDecision<number> {
  const metadata = { name, namespace, resourceVersion: String(revision) };
  const object = { metadata, text, sum: crc32(`${name} ${revision} ${text}`) };
  return { do: kind, object, json: JSON.stringify(object), result: revision };
}

/** Different for every change, so that a mixture of two would show. */
function textOf(revision: number, length: number): string {
  return `é${revision};`.repeat(Math.ceil(length / 8));
}

async function inLoops(work: (loop: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: loops }, (_, loop) => work(loop)));
}

function nameOf(i: number): string {
  return `thing-${i}`;
}
