import { isCoordinationError } from "../../src/coordination/errors.ts";
import { type Key, keyOf } from "../../src/coordination/key.ts";
import type { LockTableOptions } from "../../src/coordination/locks/lock-table.ts";
import type { Lease, Locks } from "../../src/coordination/locks/locks.ts";
import { sleep } from "../../src/time/index.ts";
import { LockHistory, Violation } from "./lock-history.ts";
import type { SimResult } from "./lock-sim.ts";
import { Process, World } from "./world.ts";

const callers = 8;
const fewestSteps = 220;
const keys = ["a", "b", "c"].map((name) => keyOf("target", name));

/** One process, many callers: some give up, some hang under the lock, and the process may be stopped for a while. */
export async function simulateMemoryLocks(
  seed: number,
  makeLocks: (options: LockTableOptions) => Locks,
  faults = new Map<string, number>(),
): Promise<SimResult> {
  const world = new World(seed, faults);
  const process = new Process(world, "p", { offsetMs: 0, rate: 1 + world.chance.between(-0.002, 0.002) });
  const locks = makeLocks({ clock: process.clock, random: world.chance });
  // The table in the process is the whole truth: there is no store to compare it with.
  const history = new LockHistory({ holderOf: () => undefined, endingOf: () => undefined, untrusted: true });
  let stopped = false;
  let broken: unknown;

  const check = () => {
    if (broken) throw broken;
    history.check(world.now);
  };
  const caller = async () => {
    while (!stopped) {
      await sleep(process.clock, world.chance.between(0, 100));
      const lease = await ask(world.chance.pick(keys));
      if (!lease) continue;
      history.granted(process, lease, world.now);
      await sleep(process.clock, world.chance.between(0, 50));
      if (world.chance.happens(0.05)) {
        world.struck("work hangs");
        await sleep(process.clock, 5_000);
      }
      history.effect(lease.key, lease.fence);
      await lease.release();
    }
  };
  const ask = (key: Key): Promise<Lease | undefined> => {
    if (world.chance.happens(0.2)) return locks.tryAcquire(key, { maxHoldMs: 1_000 });
    const giveUp = new AbortController();
    if (world.chance.happens(0.3)) {
      world.struck("caller gives up");
      process.clock.after(world.chance.between(0, 100), () => giveUp.abort());
    }
    const waitMs = world.chance.between(1, 2_000);
    return locks.acquire(key, { waitMs, maxHoldMs: 1_000, signal: giveUp.signal }).catch(expected);
  };
  const trouble = () => {
    if (stopped) return;
    world.struck("pause");
    process.pause(world.chance.between(1, 3_000));
    world.in(world.chance.between(100, 5_000), trouble);
  };

  try {
    for (let i = 0; i < callers; i++) {
      void caller().catch((error) => {
        broken ??= error;
      });
    }
    world.in(500, trouble);
    while (world.steps < fewestSteps) await world.run(world.now + 200, check);
    stopped = true;
    await world.run(world.now + 20_000, check);
    const { held, waiting } = locks.load();
    if (held + waiting > 0)
      throw new Violation("M4 ghost", `${held} held and ${waiting} waiting, though all have left`);
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { steps: world.steps, grants: history.grants, lost: history.lost, violation: error.message };
  }
  return { steps: world.steps, grants: history.grants, lost: history.lost, violation: undefined };
}

/** Seed 002's memory lock: keeps at most one unlocked entry, and looks at `locked` to see whether one is in use. */
export function lruLocks({ clock }: LockTableOptions): Locks {
  const entries = new Map<Key, { locked: boolean; waiters: (() => void)[] }>();
  let fence = 0n;
  const acquire = async (key: Key): Promise<Lease> => {
    const entry = entries.get(key) ?? { locked: false, waiters: [] };
    entries.set(key, entry);
    while (entry.locked) await new Promise<void>((resolve) => entry.waiters.push(resolve));
    entry.locked = true;
    let held = true;
    fence += 1n;
    const release = async () => {
      held = false;
      entry.locked = false;
      // Woken, but not running yet: nothing shows that the entry is about to be taken.
      clock.after(1, () => entry.waiters.shift()?.());
      for (const [other, { locked }] of entries) if (!locked && entries.size > 1) entries.delete(other);
      return { released: true } as const;
    };
    return {
      key,
      fence,
      holder: `caller-${fence}`,
      signal: new AbortController().signal,
      remainingMs: () => (held ? 1 : 0),
      assertHeld() {},
      release,
      [Symbol.asyncDispose]: async () => void (await release()),
    };
  };
  return {
    guarantee: "process",
    acquire,
    tryAcquire: async (key) => (entries.get(key)?.locked ? undefined : acquire(key)),
    run: async (key, work) => work(await acquire(key)),
    load: () => ({ held: 0, waiting: 0, oldestWaitMs: 0 }),
    close: async () => {},
  };
}

function expected(error: unknown): undefined {
  if (isCoordinationError(error, "timeout") || isCoordinationError(error, "aborted")) return undefined;
  throw error;
}
