import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { claimsOver } from "../../src/coordination/claims/claim-client.ts";
import type { Claims } from "../../src/coordination/claims/claims.ts";
import { keyOf } from "../../src/coordination/key.ts";
import { MemoryClaimStore } from "../../src/coordination/memory/memory-claims.ts";
import { memoryWatermarks } from "../../src/coordination/memory/memory-watermarks.ts";
import { instantMs, type PolledItem } from "../../src/coordination/watermarks/cursor.ts";
import { openWatermark, type WatermarkStore } from "../../src/coordination/watermarks/watermarks.ts";
import { systemRandom } from "../../src/time/index.ts";
import { ManualClock } from "../doubles/manual-clock.ts";
import { ProcessClock } from "../doubles/process-clock.ts";
import { shared } from "./claims-backends.ts";
import { logicMutants, type WatermarkMutant } from "./watermark-mutants.ts";

const overlapMs = 60_000;
const maxPerPoll = 2;
const leaseMs = 10_000;

describe("a stream that is polled by processes that crash anywhere", () => {
  it("loses no item, and never moves its watermark past one that is not finished", async () => {
    await fc.assert(noItemLost({}), { numRuns: 400 });
  });

  it.each([
    "resets to now at every start",
    "moves over unfinished items",
    "moves on although there are more pages",
    "has no overlap at all",
  ])("would lose one if it %s", async (name) => {
    const result = await fc.check(noItemLost(logicMutants[name] as WatermarkMutant), { numRuns: 2_000 });

    expect(result.failed).toBe(true);
  });
});

/** What happens at a step, besides time that passes. */
type Step =
  | { readonly do: "happen"; readonly visibleAfterMs: number }
  | { readonly do: "poll"; readonly process: number; readonly crashAt: number; readonly failing: boolean };

function noItemLost({ open = openWatermark }: WatermarkMutant) {
  // An item may become visible as late as the overlap allows.
  const happening = fc.record({
    do: fc.constant("happen" as const),
    visibleAfterMs: fc.constantFrom(0, 1_000, overlapMs - 1),
  });
  const polling = fc.record({
    do: fc.constant("poll" as const),
    process: fc.nat({ max: 1 }),
    // Most polls come through; the others end at one of their first steps.
    crashAt: fc.oneof({ weight: 2, arbitrary: fc.constant(1_000) }, { weight: 1, arbitrary: fc.nat({ max: 9 }) }),
    failing: fc.boolean(),
  });
  const step = fc.record({
    what: fc.oneof(happening, polling) as fc.Arbitrary<Step>,
    afterMs: fc.constantFrom(0, 1_000, 20_000, overlapMs, 600_000),
  });
  return fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
    const stream = new Stream(open);
    await stream.poll({ do: "poll", process: 0, crashAt: 1_000, failing: false });
    for (const { what, afterMs } of steps) {
      await stream.clock.advance(afterMs);
      if (what.do === "happen") stream.happen(what.visibleAfterMs);
      else await stream.poll(what);
      await stream.check();
    }
    await stream.settleDown();
    expect(stream.lost()).toEqual([]);
  });
}

interface Item {
  readonly id: string;
  readonly atMs: number;
  readonly visibleAtMs: number;
}

class Crash extends Error {}

/** A source, the processes that poll it, and their completed work. */
class Stream {
  readonly clock = new ManualClock();
  readonly #open: typeof openWatermark;
  readonly #items: Item[] = [];
  readonly #done = new Set<string>();
  readonly #watermarks: WatermarkStore = memoryWatermarks();
  readonly #claims = new MemoryClaimStore({ clock: this.clock });
  readonly #key = keyOf("notes");

  constructor(open: typeof openWatermark) {
    this.#open = open;
  }

  happen(visibleAfterMs: number): void {
    const atMs = this.clock.wallMs();
    this.#items.push({ id: `i${this.#items.length}`, atMs, visibleAtMs: atMs + visibleAfterMs });
  }

  /** One process starts, polls once and, unless it crashes before, stops. */
  async poll({ process, crashAt, failing }: Step & { readonly do: "poll" }): Promise<void> {
    let steps = 0;
    const mayCrash = () => {
      if (steps++ === crashAt) throw new Crash();
    };
    const clock = new ProcessClock(this.clock);
    const claims = claimsOver(shared(this.#claims), { clock, random: systemRandom() });
    try {
      const serverDate = new Date(this.clock.wallMs());
      const watermark = await this.#open(this.#watermarks, this.#key, { from: "now", serverDate, overlapMs });
      mayCrash();
      const items = this.#list(watermark.queryFrom());
      mayCrash();
      const polled: PolledItem[] = [];
      let worked = 0;
      for (const [i, item] of items.entries()) {
        // Enough for one poll. Items repeated by the overlap do not count, or the poll would never get past them.
        if (worked === maxPerPoll) break;
        const wasDone = this.#done.has(item.id);
        const finished = await this.#work(claims, item, failing && i % 2 === process, mayCrash);
        if (!wasDone) worked++;
        polled.push({ id: item.id, updatedAt: new Date(item.atMs).toISOString(), finished });
      }
      mayCrash();
      await watermark.advance(polled, serverDate, { more: polled.length < items.length });
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      // It never comes back: its claims are left to expire.
      return clock.crash();
    }
    await claims.close();
  }

  async #work(claims: Claims, { id }: Item, fails: boolean, mayCrash: () => void): Promise<boolean> {
    const options = { effect: "idempotent", leaseMs, doneTtlMs: 24 * 3_600_000, retryAfterMs: 5_000 } as const;
    const claimed = await claims.claim(keyOf("note", id), options);
    if (claimed.state !== "new") return claimed.state === "done";
    mayCrash();
    if (fails) {
      await claimed.fail({ retryAfterMs: 5_000 });
      return false;
    }
    this.#done.add(id);
    mayCrash();
    await claimed.complete();
    mayCrash();
    return true;
  }

  #list(updatedAfter: string): Item[] {
    const now = this.clock.wallMs();
    return this.#items
      .filter(({ atMs, visibleAtMs }) => visibleAtMs <= now && atMs >= instantMs(updatedAfter))
      .sort((a, b) => a.atMs - b.atMs);
  }

  /** A later poll lists every unfinished item. */
  async check(): Promise<void> {
    const record = await this.#watermarks.read(this.#key);
    if (!record) return;
    const from = instantMs(record.cursor.updatedAt) - overlapMs;
    for (const { id, atMs } of this.#items) if (!this.#done.has(id)) expect(atMs).toBeGreaterThanOrEqual(from);
  }

  /** No more faults. */
  async settleDown(): Promise<void> {
    for (let i = 0; i < 60 && this.lost().length > 0; i++) {
      await this.clock.advance(i < 5 ? overlapMs : 15_000);
      await this.poll({ do: "poll", process: 0, crashAt: 1_000, failing: false });
    }
    await this.#claims.close();
  }

  lost(): string[] {
    return this.#items.filter(({ id }) => !this.#done.has(id)).map(({ id }) => id);
  }
}
