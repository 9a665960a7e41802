import { describe, expect, it } from "vitest";
import { ManualClock, settle } from "../../../test/doubles/manual-clock.ts";
import { Chance } from "../../../test/sim/chance.ts";
import { type KubeObject, objectKey } from "../object.ts";
import { Controller, keysFrom, type StallWatch } from "./controller.ts";
import { type Decision, decision, nothing } from "./decision.ts";
import type { Informer } from "./informer.ts";
import type { ChangeHandler } from "./object-cache.ts";
import { OwnWrites } from "./own-writes.ts";
import { lostEventMs, type Performed, type ReconcileSteps, reconcile, reconcileCached } from "./reconcile.ts";

type Action = "add" | "stale" | "wait";

describe("reconcile", () => {
  it("decides and performs until there is nothing left to do", async () => {
    const { requeueAfterMs, performed } = await run((count) => (count < 3 ? decision("add") : nothing));

    expect(performed).toEqual(["add at 0", "add at 1", "add at 2"]);
    expect(requeueAfterMs).toBeUndefined();
  });

  it("returns the delay of a decision after its actions, without another round", async () => {
    const { requeueAfterMs, performed } = await run(() => ({ actions: ["add"], requeueAfterMs: 70 }));

    expect(performed).toEqual(["add at 0"]);
    expect(requeueAfterMs).toBe(70);
  });

  it("passes the result of each action to the next", async () => {
    const { performed } = await run((count) => (count === 0 ? decision("add", "add") : nothing));

    expect(performed).toEqual(["add at 0", "add at 1"]);
  });

  it("performs no further action on a stale snapshot, and observes again", async () => {
    const { requeueAfterMs, performed } = await run((count) => (count === 0 ? decision("stale", "add") : nothing));

    expect(performed).toEqual(["stale at 0"]);
    expect(requeueAfterMs).toBeUndefined();
  });

  it("performs no further action while it waits for an event, and reconciles again in case the event is lost", async () => {
    const { requeueAfterMs, performed } = await run(() => decision("wait", "add"));

    expect(performed).toEqual(["wait at 0"]);
    expect(requeueAfterMs).toBe(lostEventMs);
  });

  it("reconciles again later if the next round has to wait for an event", async () => {
    const { requeueAfterMs } = await run(() => decision("add"), { observeAgain: async () => undefined });

    expect(requeueAfterMs).toBe(lostEventMs);
  });

  it("is requeued behind other keys after many rounds", async () => {
    const { requeueAfterMs, performed } = await run(() => decision("add"));

    expect(performed).toHaveLength(24);
    expect(requeueAfterMs).toBe(50);
  });
});

describe("reconcileCached", () => {
  it("skips a version that is older than the one this process wrote", async () => {
    const { reconciled } = await startController({ cached: thing("1"), known: thing("2") });

    expect(reconciled).toEqual([]);
  });

  it("reconciles the newer version, even if it only reports a stall and so wakes no key", async () => {
    const { reconciled, show, clock } = await startController({ cached: thing("1"), known: thing("2", [stalled]) });

    show(thing("2", [stalled]));
    await settle();
    await clock.advance(lostEventMs);
    await settle();

    expect(reconciled).toEqual(["2"]);
  });
});

describe("a skipped attempt", () => {
  it("neither ends a stall nor its backoff", async () => {
    const reports: string[] = [];
    const { clock, reconciled, know, wake } = await startController({
      cached: thing("1"),
      work: () => Promise.reject(new Error("webhook down")),
      stalls: {
        failed: (_key, _error, inMs) => void reports.push(`failed, again in ${inMs} ms`),
        succeeded: () => void reports.push("succeeded"),
      },
    });
    expect(reports).toEqual(["failed, again in 200 ms"]);

    know(thing("2"));
    wake();
    await settle();
    expect(reconciled).toEqual(["1"]);
    know(thing("1"));
    await clock.advance(lostEventMs);
    await settle();

    expect(reports.slice(0, 2)).toEqual(["failed, again in 200 ms", "failed, again in 400 ms"]);
    expect(reports).not.toContain("succeeded");
  });
});

const stalled = { type: "Stalled", status: "True" };

function thing(resourceVersion: string, conditions: readonly object[] = []): KubeObject {
  const metadata = { name: "a", namespace: "default", uid: "u", resourceVersion };
  return { apiVersion: "v1", kind: "Thing", metadata, status: { conditions } } as KubeObject;
}

interface TestOptions {
  readonly cached: KubeObject;
  readonly known?: KubeObject;
  readonly work?: () => Promise<undefined>;
  readonly stalls?: StallWatch;
}

/** A controller of the only object in a cache, which shows `cached` until `show` is called. */
async function startController({ cached: first, known = first, work = async () => undefined, stalls }: TestOptions) {
  let cached = first;
  let changed: ChangeHandler<KubeObject> = () => {};
  const reconciled: (string | undefined)[] = [];
  const clock = new ManualClock();
  const ownWrites = new OwnWrites();
  ownWrites.note(known);
  const informer = {
    synced: Promise.resolve(),
    subscribe(handler: ChangeHandler<KubeObject>) {
      changed = handler;
      handler("ADDED", cached, undefined);
      return () => {};
    },
  } as unknown as Informer<KubeObject>;
  const controller = new Controller({
    ...{
      name: "things",
      clock,
      random: new Chance(1),
      problem() {},
      backoff: { baseMs: 200, maxMs: 300_000, jitter: 0 },
    },
    ...(stalls && { stalls }),
    sources: [keysFrom(informer, (object) => [objectKey(object)])],
    reconcile: () =>
      reconcileCached(cached, ownWrites, async ({ metadata }) => {
        reconciled.push(metadata.resourceVersion);
        return work();
      }),
  });
  await settle();
  return {
    clock,
    reconciled,
    know(object: KubeObject) {
      ownWrites.forget(object);
      ownWrites.note(object);
    },
    wake: () => controller.add(objectKey(cached)),
    show(object: KubeObject) {
      const previous = cached;
      cached = object;
      changed("MODIFIED", object, previous);
    },
  };
}

/** Snapshots are counts: `add` adds one, and a count that is observed again is 100. */
async function run(decide: (count: number) => Decision<Action>, other: Partial<ReconcileSteps<number, Action>> = {}) {
  const performed: string[] = [];
  const requeueAfterMs = await reconcile<number, Action>(0, {
    decide,
    async perform(action, count): Promise<Performed<number>> {
      performed.push(`${action} at ${count}`);
      if (action === "add") return { kind: "done", snapshot: count + 1 };
      return { kind: action === "wait" ? "waiting" : "stale" };
    },
    observeAgain: async (after) => after ?? 100,
    ...other,
  });
  return { requeueAfterMs, performed };
}
