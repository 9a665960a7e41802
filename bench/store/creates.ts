import type { ObjectStore } from "../../src/apiserver/object-store.ts";
import { machineMs } from "../locks/machine-time.ts";
import { median } from "../locks/quantile.ts";
import { BareFile } from "./bare-file.ts";
import { create, keyOf, sample } from "./sample.ts";

export interface CreatePlan {
  readonly rounds: number;
  /** Creates per round, one at a time and 64 at a time. */
  readonly oneByOne: number;
  readonly in64: number;
}

export interface CreateFigures {
  readonly create1PerSecond: number;
  readonly create64PerSecond: number;
  /** Objects per second in bare appends: one per append, and 64 per append. */
  readonly bare1PerSecond: number;
  readonly bare64PerSecond: number;
  readonly created: number;
}

/**
 * Creates, each answered when durable, and right after them the bare figure, because disks have moods. One by one
 * first: what many at a time leave for the disk to do would be counted against them.
 */
export async function creates(store: ObjectStore, folder: string, plan: CreatePlan): Promise<CreateFigures> {
  let created = 0;
  // Until the code is compiled: a server in its first second is not representative.
  await createsPerSecond(1_000, 64);
  const one = await besideBare(1, plan.oneByOne);
  const many = await besideBare(64, plan.in64);
  return {
    create1PerSecond: one.ours,
    create64PerSecond: many.ours,
    bare1PerSecond: one.bare,
    bare64PerSecond: many.bare,
    created,
  };

  async function besideBare(inFlight: number, count: number): Promise<{ ours: number; bare: number }> {
    const objectBytes = JSON.stringify(sample(1, keyOf(1), 100_000)).length;
    const file = await BareFile.open(folder, inFlight * objectBytes);
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < plan.rounds; round++) {
      ours.push(await createsPerSecond(count, inFlight));
      bare.push(inFlight * (await file.appendsPerSecond(count / inFlight)));
    }
    await file.close();
    return { ours: median(ours), bare: median(bare) };
  }

  async function createsPerSecond(count: number, inFlight: number): Promise<number> {
    const end = created + count;
    const startedAt = machineMs();
    await Promise.all(Array.from({ length: inFlight }, createUntilEnd));
    return (1_000 * count) / (machineMs() - startedAt);

    async function createUntilEnd() {
      while (created < end) await create(store, created++);
    }
  }
}
