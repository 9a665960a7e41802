import { describe, expect, it } from "vitest";
import { type Ledger, openFileLedger } from "../../src/ledger/index.ts";
import { Dice } from "../chaos/dice.ts";
import { ManualClock, settle } from "../doubles/manual-clock.ts";
import { LedgerModel } from "./ledger-model.ts";
import { dieAtEveryStep, liveOn } from "./lives.ts";
import { type Fate, type Life, LossyDisk } from "./lossy-disk.ts";

const seeds = 6;

describe("a file ledger on a disk that forgets", () => {
  it("loses no durable record when the process dies at any step, also during recovery", async () => {
    const deaths = await dieAtEveryStep(seeds, (label, disk, dice) => {
      const model = new LedgerModel(label);
      return (fate) => live(disk, model, dice, fate);
    });

    expect(deaths).toBeGreaterThan(30 * seeds);
  }, 120_000);

  it("rejects events that it cannot keep, and continues from the stored rows when it is opened again", async () => {
    let rejected = 0;
    for (let seed = 1; seed <= 2 * seeds; seed++) {
      for (let failsAt = 5; failsAt < 60; failsAt++) {
        const dice = new Dice(seed * 200_003 + failsAt);
        const disk = new LossyDisk(dice);
        const model = new LedgerModel(`seed ${seed}, fails at ${failsAt}`);

        await live(disk, model, dice, { fails: (step) => step === failsAt }).catch(tolerateBadDisk);
        await live(disk, model, dice, { diesAt: dice.whole(10, 60) });
        await live(disk, model, dice, {});

        rejected += model.rejected;
      }
    }

    expect(rejected).toBeGreaterThan(100 * seeds);
  }, 120_000);

  it("goes on by itself when the disk takes something again, and dies while it does so", async () => {
    let rejected = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      for (let failsAt = 5; failsAt < 60; failsAt++) {
        const dice = new Dice(seed * 300_007 + failsAt);
        const disk = new LossyDisk(dice);
        const model = new LedgerModel(`seed ${seed}, fails from ${failsAt}`);
        const healsAt = failsAt + dice.whole(1, 20);
        const fails = (step: number) => step >= failsAt && step < healsAt;
        const mayDie = dice.chance(0.5) ? { diesAt: healsAt + dice.whole(1, 20) } : {};

        await live(disk, model, dice, { fails, ...mayDie }, persist).catch(tolerateBadDisk);
        await live(disk, model, dice, {});

        rejected += model.rejected;
      }
    }

    expect(rejected).toBeGreaterThan(50 * seeds);
  }, 120_000);
});

/** Opens the ledger, checks it, appends events, and closes it or dies. True if it did not die. */
function live(
  disk: LossyDisk,
  model: LedgerModel,
  dice: Dice,
  fate: Fate,
  afterwards: typeof persist = async () => {},
): Promise<boolean> {
  return liveOn(disk, dice, fate, (life) => work(life, model, dice, afterwards));
}

async function work(life: Life, model: LedgerModel, dice: Dice, afterwards: typeof persist) {
  const clock = new ManualClock();
  const ledger = await openFileLedger({
    directory: "/lossy",
    writer: "w",
    clock,
    openDisk: async () => life.disk,
    limits: { segmentBytes: 2_500, waitingBytes: 1_000_000 },
  });
  await model.check(life.disk, "w");
  await Promise.all([1, 2, 3, 4].map(() => append(ledger, model, dice)));
  await afterwards(ledger, model, clock);
  await ledger.close();
}

/** Appends again and again, until the ledger keeps an event. */
async function persist(ledger: Ledger, model: LedgerModel, clock: ManualClock) {
  for (let tries = 0; tries < 30; tries++) {
    const before = model.rejected;
    await model.append(ledger, 10);
    if (model.rejected === before) return;
    await clock.advance(1_000);
    for (let turns = 0; turns < 60; turns++) await settle();
  }
  throw new Error("nothing was kept any more although the disk is well");
}

async function append(ledger: Ledger, model: LedgerModel, dice: Dice) {
  for (let i = 0; i < 8; i++) {
    // Some append during a flush, some together.
    for (let turns = dice.whole(0, 3); turns > 0; turns--) await settle();
    await model.append(ledger, dice.whole(0, 200));
  }
}

/** A disk that fails while the ledger is opened keeps it from opening; that is all. */
function tolerateBadDisk(error: Error) {
  if (!error.message.startsWith("EIO")) throw error;
}
