import { keyOf } from "../../src/coordination/key.ts";
import type { Locks } from "../../src/coordination/locks/locks.ts";
import { sleep } from "../../src/time/index.ts";
import type { LockBackend, SimResult } from "./lock-sim.ts";
import { Process, World } from "./world.ts";

const processes = 6;
const fewestSteps = 220;
/** A caller that called this much later cannot have reached the store first. */
const headStartMs = 100;

interface Turn {
  readonly process: string;
  readonly calledAt: number;
  grantedAt?: number;
}

/** M5: with one caller in each process and no faults, no caller is served before an earlier one. */
export async function simulateOrder(seed: number, makeBackend: (world: World) => LockBackend): Promise<SimResult> {
  const world = new World(seed);
  const backend = makeBackend(world);
  const turns: Turn[] = [];
  let stopped = false;

  const work = async (process: Process, locks: Locks) => {
    while (!stopped) {
      await sleep(process.clock, world.chance.between(0, 400));
      const turn: Turn = { process: process.name, calledAt: world.now };
      turns.push(turn);
      // The connection may not be up yet in the first moment.
      const lease = await locks.acquire(keyOf("target"), { ttlMs: 3_000, waitMs: 60_000 }).catch(() => undefined);
      if (!lease) continue;
      turn.grantedAt = world.now;
      await sleep(process.clock, world.chance.between(0, 200));
      await lease.release();
    }
  };
  for (let i = 0; i < processes; i++) {
    const process = new Process(world, `p${i}`, { offsetMs: world.chance.between(-1e6, 1e6), rate: 1 });
    void work(process, backend.open(process));
  }
  while (world.steps < fewestSteps) await world.run(world.now + 200, () => {});
  stopped = true;
  await world.run(world.now + 10_000, () => {});

  const served = turns.filter(({ grantedAt }) => grantedAt !== undefined);
  return { steps: world.steps, grants: served.length, lost: 0, violation: overtaking(served) };
}

function overtaking(turns: readonly Turn[]): string | undefined {
  for (const early of turns) {
    for (const late of turns) {
      const earlier = early.calledAt + headStartMs < late.calledAt;
      if (earlier && (late.grantedAt as number) < (early.grantedAt as number)) {
        return `M5 order: ${late.process}, who called at ${late.calledAt}, overtook ${early.process}, who called at ${early.calledAt}`;
      }
    }
  }
  return undefined;
}
