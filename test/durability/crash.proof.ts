import { describe, expect, it } from "vitest";
import { openLogStore } from "../../src/apiserver/log/open-log-store.ts";
import type { ObjectStore } from "../../src/apiserver/object-store.ts";
import { Dice } from "../chaos/dice.ts";
import { ManualClock, settle } from "../doubles/manual-clock.ts";
import { dieAtEveryStep, liveOn } from "./lives.ts";
import { type Fate, type Life, LossyDisk } from "./lossy-disk.ts";
import { StoreModel } from "./store-model.ts";

const seeds = 6;

describe("a log store on a disk that forgets", () => {
  it("loses no durable record when the process dies at any step, also during recovery", async () => {
    const deaths = await dieAtEveryStep(seeds, (label, disk, dice) => {
      const model = new StoreModel(label);
      return (fate) => live(disk, model, dice, fate);
    });

    expect(deaths).toBeGreaterThan(40 * seeds);
  }, 120_000);

  it("stores nothing of a write that it rejects, and goes on when the disk recovers", async () => {
    let rejected = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      for (let failsAt = 12; failsAt < 90; failsAt++) {
        const dice = new Dice(seed * 200_003 + failsAt);
        const disk = new LossyDisk(dice);
        const model = new StoreModel(`seed ${seed}, fails at ${failsAt}`);
        const failing = dice.whole(1, 6);

        const survived = await live(disk, model, dice, {
          fails: (step) => step >= failsAt && step < failsAt + failing,
        });
        await live(disk, model, dice, {});

        expect(survived).toBe(true);
        rejected += model.rejected;
      }
    }

    expect(rejected).toBeGreaterThan(20 * seeds);
  }, 120_000);

  it("removes a rejected write before it rejects: a crash then does not bring it back", async () => {
    let rejected = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      for (let failsAt = 12; failsAt < 60; failsAt++) {
        const dice = new Dice(seed * 300_007 + failsAt);
        const disk = new LossyDisk(dice);
        const model = new StoreModel(`seed ${seed}, fails once at ${failsAt}`);

        await live(disk, model, dice, { fails: (step) => step === failsAt, diesAt: failsAt + dice.whole(1, 12) });
        await live(disk, model, dice, {});

        rejected += model.rejected;
      }
    }

    expect(rejected).toBeGreaterThan(10 * seeds);
  }, 120_000);

  it("keeps changes that were visible after opening, although the process that wrote them got an error", async () => {
    let shown = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      for (let failsAt = 12; failsAt < 60; failsAt++) {
        const dice = new Dice(seed * 400_009 + failsAt);
        const disk = new LossyDisk(dice);
        const model = new StoreModel(`seed ${seed}, fails and dies at ${failsAt}`);
        const failed = disk.open({ fails: (step) => step === failsAt, diesAt: failsAt + 1 });
        await Promise.race([work(failed, model, dice), failed.died]);
        disk.kill();

        const { revision } = await openedAndChecked(disk, model);
        disk.cutPower();
        const afterwards = await openedAndChecked(disk, model);
        disk.kill();

        expect(afterwards.revision).toBe(revision);
        shown += revision - 100;
      }
    }

    expect(shown).toBeGreaterThan(100 * seeds);
  }, 120_000);
});

async function openedAndChecked(disk: LossyDisk, model: StoreModel): Promise<ObjectStore> {
  const store = await openStore(disk.open());
  model.check(store);
  return store;
}

/** Opens the store, checks it, writes, and closes it or dies. True if it did not die. */
function live(disk: LossyDisk, model: StoreModel, dice: Dice, fate: Fate): Promise<boolean> {
  return liveOn(disk, dice, fate, (life) => work(life, model, dice));
}

function openStore({ disk }: Life): Promise<ObjectStore> {
  return openLogStore({
    directory: "/lossy",
    parse: JSON.parse,
    clock: new ManualClock(),
    openDisk: async () => disk,
    space: { compactedFromBytes: 1_500, compactedFromRatio: 1, reservedBytes: 600 },
  });
}

async function work(life: Life, model: StoreModel, dice: Dice) {
  const store = await openStore(life);
  model.check(store);
  store.watch("things", store.revision, ({ entry }) => model.sawRevision(entry.revision));
  await Promise.all([1, 2, 3, 4].map(() => write(store, model, dice)));
  // What is rejected while the disk is broken is certain to be gone once a later write has got through.
  for (const before = store.revision; store.revision === before; ) await model.write(store, dice);
  model.check(store);
  await store.close();
}

async function write(store: ObjectStore, model: StoreModel, dice: Dice) {
  for (let i = 0; i < 8; i++) {
    // Some write while a flush is under way, some together.
    for (let turns = dice.whole(0, 3); turns > 0; turns--) await settle();
    await model.write(store, dice);
  }
}
