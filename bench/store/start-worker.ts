import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { freezeJson } from "../../src/apiserver/json/parse-json.ts";
import { openLogStore } from "../../src/apiserver/log/open-log-store.ts";
import { systemClock } from "../../src/time/index.ts";
import { machineMs } from "../locks/machine-time.ts";
import { keyOf } from "./sample.ts";

export interface Started {
  readonly objects: number;
  readonly startSeconds: number;
  /** Just opened. */
  readonly rssMb: number;
  /** After every object was asked for, and so parsed. */
  readonly rssMbAllParsed: number;
  readonly parseAllSeconds: number;
  /** Only reading the files. */
  readonly bareReadSeconds: number;
  /** Of a process that has loaded the same programs and opened nothing. */
  readonly bareRssMb: number;
}

const [directory = ""] = process.argv.slice(2);
process.send?.(await look(directory), () => process.disconnect());

async function look(directory: string): Promise<Started> {
  const bareRssMb = rssMb();
  const openedAt = machineMs();
  const store = await openLogStore({ directory, parse: freezeJson, clock: systemClock() });
  const startSeconds = secondsSince(openedAt);
  const atStart = rssMb();

  const parsedAt = machineMs();
  let objects = 0;
  for (const { object } of store.list(keyOf(0).resource)) if (object.metadata.uid) objects++;
  const parseAllSeconds = secondsSince(parsedAt);
  const rssMbAllParsed = rssMb();
  await store.close();

  const readAt = machineMs();
  for (const name of readdirSync(directory)) readFileSync(join(directory, name));
  const bareReadSeconds = secondsSince(readAt);
  return { objects, startSeconds, rssMb: atStart, rssMbAllParsed, parseAllSeconds, bareReadSeconds, bareRssMb };
}

function secondsSince(ms: number): number {
  return (machineMs() - ms) / 1_000;
}

function rssMb(): number {
  return process.memoryUsage.rss() / 1_048_576;
}
