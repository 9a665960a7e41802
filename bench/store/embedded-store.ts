import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { freezeJson } from "../../src/apiserver/json/parse-json.ts";
import { openLogStore } from "../../src/apiserver/log/open-log-store.ts";
import type { ObjectStore } from "../../src/apiserver/object-store.ts";
import { systemClock } from "../../src/time/index.ts";
import { median } from "../locks/quantile.ts";
import { printTable } from "../locks/table.ts";
import { creates } from "./creates.ts";
import { gets } from "./gets.ts";
import type { Plan } from "./plans.ts";
import { create } from "./sample.ts";
import { start } from "./start.ts";
import type { Started } from "./start-worker.ts";

export interface Measured {
  readonly figures: Readonly<Record<string, number>>;
  /** What bare steps of the same kind take on this machine, in this run. */
  readonly calibration: Readonly<Record<string, number>>;
}

const objects = 100_000;

/** The store itself, without an API around it. `folder` is on the disk that is to be measured. */
export async function measureStore(folder: string, plan: Plan): Promise<Measured> {
  const directory = mkdtempSync(join(folder, "store-"));
  try {
    const store = await openLogStore({ directory, parse: freezeJson, clock: systemClock() });
    const written = await creates(store, folder, plan.creates);
    await fill(store, written.created);
    const read = gets(store, objects, plan.gets);
    await store.close();

    const started: Started[] = [];
    for (let i = 0; i < plan.starts; i++) started.push(await start(directory));
    const middle = (figure: keyof Started) => median(started.map((one) => one[figure]));

    printTable(
      "Store in this process",
      ["", "store", "bare", "ratio"],
      [
        row("creates/s, 1 in flight", written.create1PerSecond, written.bare1PerSecond),
        row("creates/s, 64 in flight", written.create64PerSecond, written.bare64PerSecond),
        row("gets/s", read.getPerSecond, read.bareMapGetsPerSecond),
        row("start with 100,000, s", middle("startSeconds"), middle("bareReadSeconds")),
        row("memory with 100,000, MB", middle("rssMbAllParsed"), middle("bareRssMb")),
        ["  of which before anything is parsed", middle("rssMb")],
        ["  seconds to parse all of them", middle("parseAllSeconds")],
        ["list of 5,000 in a namespace, ms", read.listNamespaceMs],
      ],
    );
    return {
      figures: {
        create64PerSecond: written.create64PerSecond,
        create1PerSecond: written.create1PerSecond,
        getPerSecond: read.getPerSecond,
        startSeconds100k: middle("startSeconds"),
        rssMb100k: middle("rssMbAllParsed"),
      },
      calibration: {
        bareAppend64PerSecond: written.bare64PerSecond,
        bareAppend1PerSecond: written.bare1PerSecond,
        bareMapGetsPerSecond: read.bareMapGetsPerSecond,
        bareReadSeconds100k: middle("bareReadSeconds"),
        bareRssMb: middle("bareRssMb"),
      },
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Up to the full number, with as many at a time as make it quick. */
async function fill(store: ObjectStore, from: number) {
  for (let i = from; i < objects; i += 1_000) {
    const to = Math.min(objects, i + 1_000);
    await Promise.all(Array.from({ length: to - i }, (_, k) => create(store, i + k)));
  }
}

function row(name: string, ours: number, bare: number) {
  return [name, ours, bare, ours / bare] as const;
}
