import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { Chance } from "../../../test/sim/chance.ts";
import { type WorkOutcome, WorkQueue } from "./work-queue.ts";

describe("a work queue", () => {
  it("returns keys in the order of their first addition, each once", () => {
    const { queue } = setUp();
    for (const key of ["b", "a", "b", "c", "a"]) queue.add(key);

    expect(queue.depth).toBe(3);
    expect(takeAll(queue)).toEqual(["b", "a", "c"]);
  });

  it("requeues a key that was added during its work once, behind the others", () => {
    const { queue } = setUp();
    queue.add("a");
    queue.take();
    queue.add("a");
    queue.add("a");
    queue.add("b");

    expect(queue.depth).toBe(1);
    queue.finish("a", { kind: "done" });

    expect(takeAll(queue)).toEqual(["b", "a"]);
  });

  it("returns a key after its delay, the shortest of several", async () => {
    const { queue, clock } = setUp();
    queue.addAfter("a", 5_000);
    queue.addAfter("a", 1_000);
    queue.addAfter("a", 3_000);

    await clock.advance(999);
    expect(queue.take()).toBeUndefined();
    await clock.advance(1 + resolutionMs);

    expect(takeAll(queue)).toEqual(["a"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("drops a delay when work on the key begins, which returns the next one", async () => {
    const { queue, clock } = setUp();
    queue.addAfter("a", 1_000);
    queue.add("a");

    expect(queue.take()).toBe("a");
    queue.finish("a", { kind: "again", inMs: 5_000 });

    await clock.advance(4_999);
    expect(queue.depth).toBe(0);
    await clock.advance(1 + resolutionMs);
    expect(queue.depth).toBe(1);
  });

  it("delays a key longer after each failure, up to a maximum, and resets after a success", async () => {
    const { queue, clock } = setUp();
    const delays: number[] = [];
    queue.add("a");
    for (const kind of ["failed", "failed", "failed", "failed", "done", "failed"] as const) {
      expect(queue.take()).toBe("a");
      queue.finish("a", { kind });
      if (kind === "done") queue.add("a");
      const from = clock.now();
      while (queue.depth === 0) await clock.advance(resolutionMs);
      delays.push(clock.now() - from);
    }

    expect(delays).toEqual([100, 200, 400, 500, 0, 100]);
  });

  it("resets the backoff when the work is to be repeated", async () => {
    const { queue, clock } = setUp();
    const delays: (number | undefined)[] = [];
    queue.add("a");
    for (const outcome of [
      { kind: "failed" },
      { kind: "failed" },
      { kind: "again", inMs: 0 },
      { kind: "failed" },
    ] as const) {
      while (queue.depth === 0) await clock.advance(resolutionMs);
      queue.take();
      delays.push(queue.finish("a", outcome));
    }

    expect(delays).toEqual([100, 200, undefined, 100]);
  });

  it("continues the backoff after work that was skipped", async () => {
    const { queue, clock } = setUp();
    const delays: (number | undefined)[] = [];
    queue.add("a");
    for (const outcome of [{ kind: "failed" }, { kind: "skipped", inMs: 0 }, { kind: "failed" }] as const) {
      while (queue.depth === 0) await clock.advance(resolutionMs);
      queue.take();
      delays.push(queue.finish("a", outcome));
    }

    expect(delays).toEqual([100, undefined, 200]);
  });

  it("does not delay a key by its backoff when it is added for another reason", () => {
    const { queue } = setUp();
    queue.add("a");
    queue.take();
    queue.finish("a", { kind: "failed" });

    queue.add("a");

    expect(queue.take()).toBe("a");
  });

  it("keeps nothing for a key that is done", () => {
    const { queue, clock } = setUp();
    for (let i = 0; i < 1_000; i++) queue.add(`key ${i}`);
    for (const key of takeAll(queue)) queue.finish(key, { kind: "done" });

    expect(queue.size).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it("returns and accepts nothing after it was stopped, and leaves no timer", async () => {
    const { queue, clock } = setUp();
    queue.add("working");
    queue.take();
    queue.add("waiting");
    queue.addAfter("later", 1_000);

    queue.stop();
    queue.add("late");
    queue.addAfter("late", 10);
    queue.finish("working", { kind: "failed" });

    expect(clock.pendingTimers).toBe(0);
    expect([queue.depth, queue.size, queue.take()]).toEqual([0, 0, undefined]);
  });

  it("throws for a key that is finished without being taken, and for a delay that is not a number", () => {
    const { queue } = setUp();
    queue.add("a");

    expect(() => queue.finish("a", { kind: "done" })).toThrow(TypeError);
    expect(() => queue.addAfter("a", Number.NaN)).toThrow(TypeError);
  });

  it("behaves like a plain list: no key is worked on twice at a time, and none is lost", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyTurn(), { maxLength: 80 }), async (turns) => {
        const pair = new Pair();

        for (const turn of turns) await pair.make(turn);

        await pair.drain();
      }),
      { numRuns: 1_000 },
    );
  });
});

const resolutionMs = 10;
const backoff = { baseMs: 100, maxMs: 500, jitter: 0 };

function setUp() {
  const clock = new ManualClock();
  return { clock, queue: new WorkQueue({ clock, random: new Chance(1), backoff, ready() {} }) };
}

function takeAll(queue: WorkQueue): string[] {
  const keys: string[] = [];
  for (let key = queue.take(); key !== undefined; key = queue.take()) keys.push(key);
  return keys;
}

type Turn =
  | { readonly do: "add"; readonly key: string }
  | { readonly do: "addAfter"; readonly key: string; readonly ms: number }
  | { readonly do: "take" }
  | { readonly do: "finish"; readonly which: number; readonly outcome: WorkOutcome }
  | { readonly do: "advance"; readonly ms: number };

function anyTurn(): fc.Arbitrary<Turn> {
  const key = fc.constantFrom("a", "b", "c", "d");
  const ms = fc.nat({ max: 60 }).map((tens) => tens * resolutionMs);
  const outcome = fc.oneof(
    fc.constant({ kind: "done" } as const),
    fc.constant({ kind: "failed" } as const),
    fc.record({ kind: fc.constantFrom("again" as const, "skipped" as const), inMs: ms }),
  );
  return fc.oneof(
    fc.record({ do: fc.constant("add" as const), key }),
    fc.record({ do: fc.constant("addAfter" as const), key, ms }),
    fc.constant({ do: "take" } as const),
    fc.record({ do: fc.constant("finish" as const), which: fc.nat(), outcome }),
    fc.record({ do: fc.constant("advance" as const), ms }),
  );
}

/** A queue beside a model without states: the waiting, working, wanted and due keys. */
class Pair {
  readonly #clock = new ManualClock();
  #readyCalls = 0;
  readonly #queue = new WorkQueue({
    clock: this.#clock,
    random: new Chance(1),
    backoff,
    ready: () => this.#readyCalls++,
  });
  #waiting: { readonly key: string; readonly since: number }[] = [];
  /** Counts the moments at which something can come to wait. */
  #moment = 0;
  readonly #working: string[] = [];
  readonly #wanted = new Set<string>();
  readonly #due = new Map<string, number>();
  readonly #failures = new Map<string, number>();

  async make(turn: Turn): Promise<void> {
    this.#moment++;
    switch (turn.do) {
      case "add":
        this.#queue.add(turn.key);
        this.#want(turn.key);
        break;
      case "addAfter":
        this.#queue.addAfter(turn.key, turn.ms);
        this.#wantAfter(turn.key, turn.ms);
        break;
      case "take":
        this.#take();
        break;
      case "finish":
        this.#finish(this.#working[turn.which % this.#working.length], turn.outcome);
        break;
      case "advance":
        await this.#advance(turn.ms);
    }
    this.#compare();
  }

  /** Works everything off that was ever asked for. */
  async drain(): Promise<void> {
    while (this.#working.length + this.#waiting.length + this.#due.size > 0) {
      while (this.#waiting.length > 0) this.#take();
      while (this.#working.length > 0) this.#finish(this.#working[0], { kind: "done" });
      this.#moment++;
      if (this.#waiting.length === 0) await this.#advance(600);
      this.#compare();
    }
    expect(this.#queue.size).toBe(0);
    expect(this.#clock.pendingTimers).toBe(0);
  }

  #take() {
    const key = this.#queue.take();
    const first = this.#waiting[0];
    if (!first) return expect(key).toBeUndefined();
    // First come, first served; only keys that come due in one wake-up may come in any order.
    const taken = this.#waiting.find((other) => other.key === key);
    expect(taken?.since).toBe(first.since);
    expect(this.#working).not.toContain(key);
    this.#waiting = this.#waiting.filter((other) => other.key !== key);
    this.#working.push(key as string);
    this.#due.delete(key as string);
  }

  #finish(key: string | undefined, outcome: WorkOutcome) {
    if (key === undefined) return;
    this.#queue.finish(key, outcome);
    this.#working.splice(this.#working.indexOf(key), 1);
    if (outcome.kind === "again" || outcome.kind === "skipped") this.#wantAfter(key, outcome.inMs);
    const before = this.#failures.get(key) ?? 0;
    const failures = outcome.kind === "failed" ? before + 1 : outcome.kind === "skipped" ? before : 0;
    this.#failures.set(key, failures);
    if (outcome.kind === "failed") this.#wantAfter(key, Math.min(500, 100 * 2 ** (failures - 1)));
    if (this.#wanted.delete(key)) this.#want(key);
  }

  async #advance(ms: number) {
    await this.#clock.advance(ms);
    for (const [key, at] of [...this.#due].sort(([, a], [, b]) => a - b)) {
      if (at > this.#clock.now()) continue;
      this.#due.delete(key);
      this.#want(key);
    }
  }

  #want(key: string) {
    if (this.#working.includes(key)) this.#wanted.add(key);
    else if (!this.#isWaiting(key)) this.#waiting.push({ key, since: this.#moment });
  }

  #isWaiting(key: string): boolean {
    return this.#waiting.some((other) => other.key === key);
  }

  #wantAfter(key: string, ms: number) {
    this.#due.set(
      key,
      Math.min(this.#due.get(key) ?? Number.POSITIVE_INFINITY, this.#clock.now() + Math.max(resolutionMs, ms)),
    );
  }

  #compare() {
    expect(this.#queue.depth).toBe(this.#waiting.length);
    expect(this.#queue.size).toBe(
      new Set([...this.#waiting.map(({ key }) => key), ...this.#working, ...this.#due.keys()]).size,
    );
    expect(this.#clock.pendingTimers).toBe(this.#due.size > 0 ? 1 : 0);
    expect(this.#readyCalls).toBeGreaterThanOrEqual(this.#waiting.length);
  }
}
