import { expect } from "vitest";
import { Dice } from "../chaos/dice.ts";
import { settle } from "../doubles/manual-clock.ts";
import { type Fate, type Life, LossyDisk } from "./lossy-disk.ts";

/** One process from start to end: it does its work or dies. True if it did not die. */
export async function liveOn(
  disk: LossyDisk,
  dice: Dice,
  fate: Fate,
  work: (life: Life) => Promise<void>,
): Promise<boolean> {
  const life = disk.open(fate);
  try {
    return await Promise.race([work(life).then(() => true), life.died.then(() => false)]);
  } finally {
    // Nothing of the dead process may act or be noted any more.
    await settle();
    if (dice.chance(0.5)) disk.kill();
    else disk.cutPower();
  }
}

/**
 * Lives that end at each step in turn, until one gets to its end. Each is followed by some that may end while they
 * recover, and by one that must not. Resolves to how many ended early.
 */
export async function dieAtEveryStep(
  seeds: number,
  begin: (label: string, disk: LossyDisk, dice: Dice) => (fate: Fate) => Promise<boolean>,
): Promise<number> {
  let deaths = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    let hasSurvived = false;
    for (let diesAt = 1; !hasSurvived; diesAt++) {
      const dice = new Dice(seed * 100_003 + diesAt);
      const live = begin(`seed ${seed}, dies at ${diesAt}`, new LossyDisk(dice), dice);

      hasSurvived = await live({ diesAt });
      for (let life = 0; life < 3; life++) await live({ diesAt: dice.whole(1, 40) });
      const survived = await live({});

      expect(survived).toBe(true);
      if (!hasSurvived) deaths++;
    }
  }
  return deaths;
}
