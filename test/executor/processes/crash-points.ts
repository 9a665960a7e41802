import type { Engine } from "../../../src/resources/index.ts";
import { type CrashPoint, describePoint, playCrashPoint, type Story } from "./crash-point.ts";
import type { Mishap } from "./executor-process.ts";
import type { Stage } from "./stage.ts";

export interface CrashPointsPlan {
  readonly engine: Engine;
  readonly story: Story;
  /** Which of the writes it happens at, counted from 1. */
  readonly from?: number;
  readonly step?: number;
  readonly mishaps: readonly ("dies before" | "dies after" | "is paused before")[];
}

export interface CrashPointsReport {
  readonly points: number;
  /** The last write at which something happened. */
  readonly writes: number;
  readonly problems: readonly string[];
}

/** Lets something happen to an executor at one write after the other, until no write is left. */
export async function playCrashPoints(stage: Stage, { engine, story, from = 1, step = 1, mishaps }: CrashPointsPlan) {
  // Now and then one gets by with a write less than another: to try all of them, wait for two that survive.
  const survivors = step === 1 ? 2 : 1;
  const problems: string[] = [];
  let [points, writes, survived] = [0, 0, 0];
  for (let write = from; survived < survivors; write += step) {
    const ends = [];
    for (const mishap of mishaps) {
      ends.push(await play(stage, { engine, story, mishap: mishapAt(write, mishap) }));
      points++;
    }
    for (const end of ends) problems.push(...end.problems);
    const happened = ends.some((end) => end.happened);
    if (happened) writes = write;
    survived = happened ? 0 : survived + 1;
  }
  problems.push(...(await stage.ledgerProblems()).map((problem) => JSON.stringify(problem)));
  return { points, writes, problems } satisfies CrashPointsReport;
}

function mishapAt(write: number, mishap: CrashPointsPlan["mishaps"][number]): Mishap {
  const kind = mishap === "is paused before" ? "is paused" : "dies";
  return { kind, at: mishap === "dies after" ? `${write}+` : `${write}` };
}

async function play(stage: Stage, point: CrashPoint): Promise<{ happened: boolean; problems: readonly string[] }> {
  try {
    return await playCrashPoint(stage, point);
  } catch (cause) {
    const log = stage.logs().slice(-4_000);
    throw new Error(`${describePoint(point)}: ${(cause as Error).message}\n${log}`, { cause });
  }
}
