import { readdirSync } from "node:fs";
import type { LogSpace } from "../../src/apiserver/log/object-log.ts";
import { openLogStore } from "../../src/apiserver/log/open-log-store.ts";
import { DiskError } from "../../src/disk/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { Dice } from "../chaos/dice.ts";
import { monotonicMs } from "../chaos/history.ts";
import { sleepMs } from "../chaos/sleep-ms.ts";
import { Testimony } from "./testimony.ts";
import type { WriterPlan } from "./writer.ts";
import { WriterProcess } from "./writer-process.ts";

export interface TortureOptions {
  readonly directory: string;
  readonly rounds: number;
  readonly objects: number;
  readonly seed: number;
  readonly space?: LogSpace;
  /** Wait until all objects exist before thinking of killing. */
  readonly whenFull?: boolean;
}

export interface Figures {
  readonly rounds: number;
  readonly acknowledged: number;
  /** Rounds after which an incomplete frame was cut off. */
  readonly cutOff: number;
  /** Rounds that ended while a snapshot was being written. */
  readonly inSnapshot: number;
  readonly objects: number;
  readonly revision: number;
  readonly slowestOpenMs: number;
  readonly violations: readonly string[];
}

/** Kills a writer at full speed again and again, and compares its files with the acknowledged writes. */
export async function torture(options: TortureOptions): Promise<Figures> {
  const { directory, rounds, objects, seed, space } = options;
  const dice = new Dice(seed);
  const testimony = new Testimony();
  const tally = { cutOff: 0, inSnapshot: 0, objects: 0, revision: 0, slowestOpenMs: 0 };
  const newWriter = () => {
    const plan: WriterPlan = { directory, objects, seed: dice.seed(), ...(space && { space }) };
    return new WriterProcess("./writer.ts", plan);
  };

  let writer = newWriter();
  for (let round = 1; round <= rounds; round++) {
    await liveAndDie(writer, testimony, dice, options);
    // The next one starts up while we look at what this one left.
    if (round < rounds) writer = newWriter();
    if (readdirSync(directory).some((name) => name.endsWith(".new"))) tally.inSnapshot++;
    await inspect();
  }
  return { rounds, acknowledged: testimony.acknowledged, ...tally, violations: testimony.violations };

  async function inspect() {
    const startedAt = monotonicMs();
    const log = { ...silentLogger, warn: () => void tally.cutOff++ };
    const store = await openLogStore({ directory, parse: JSON.parse, clock: systemClock(), log });
    tally.slowestOpenMs = Math.max(tally.slowestOpenMs, monotonicMs() - startedAt);
    tally.objects = testimony.compare(store);
    tally.revision = store.revision;
    await store.close();
  }
}

async function liveAndDie(
  writer: WriterProcess,
  testimony: Testimony,
  dice: Dice,
  { directory, whenFull }: TortureOptions,
) {
  const ready = new Promise<void>((resolve) => {
    writer.start((line) => {
      testimony.read(line);
      if (line.startsWith(whenFull ? "full" : "open")) resolve();
    });
  });
  // Some die while they start, most a little or a while later.
  const isOpen = whenFull || dice.chance(0.9);
  if (isOpen) await ready;
  if (isOpen && dice.chance(0.2)) testimony.hearOfIntrusion(await intrude(directory), writer.pid);
  await sleepMs(dice.chance(0.3) ? dice.between(0, 20) : dice.between(20, whenFull ? 3_000 : 400));
  await writer.kill();
}

/** Tries to open the store of a living process; returns the refusal. */
async function intrude(directory: string): Promise<DiskError | undefined> {
  try {
    const store = await openLogStore({ directory, parse: JSON.parse, clock: systemClock() });
    await store.close();
    return undefined;
  } catch (error) {
    if (error instanceof DiskError) return error;
    throw error;
  }
}
