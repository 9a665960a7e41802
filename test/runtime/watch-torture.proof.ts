import { describe, expect, it } from "vitest";
import { informer } from "../../src/kube/runtime/informer.ts";
import { mutantInformer } from "./mutant.ts";
import { backwards, forgetful, oblivious, type Suspects, torture } from "./watch-torture.ts";

describe("informers over real HTTP, with writers at full speed", { timeout: 90_000 }, () => {
  it("miss nothing, report nothing out of order and end equal to the store, under every fault", async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);

    const result = await torture({ informer }, { seed, seconds: 7, fallBehind: 3 });

    console.log("watch torture", { seed, ...result });
    expect(result.violations, `seed ${seed}`).toEqual([]);
    expect(result.writes).toBeGreaterThan(500);
    expect(result.fellBehind).toBeGreaterThanOrEqual(3);
    expect(result.relists).toBeGreaterThan(0);
    expect(result.streams).toBeGreaterThan(20);
  });

  it.for<[mistake: string, suspects: () => Promise<Suspects>]>([
    ["a server loses an event", async () => ({ informer, store: forgetful })],
    ["a server continues from anywhere", async () => ({ informer, store: oblivious })],
    ["a server sends past events in the wrong order", async () => ({ informer, store: backwards })],
    [
      "an informer takes an object made anew for the old one",
      async () => ({
        informer: await mutantInformer({
          file: "object-cache.ts",
          from: "if (known.object.metadata.uid !== object.metadata.uid) {",
          to: "if (false) {",
        }),
      }),
    ],
  ])("are seen through when %s", async ([, suspects]) => {
    let caught = false;

    // Whether the mistake does harm is a matter of chance: it may take more than one try.
    for (let seed = 1; seed <= 5 && !caught; seed++) {
      const { violations } = await torture(await suspects(), { seed, seconds: 2 });
      caught = violations.length > 0;
    }

    expect(caught).toBe(true);
  });
});
