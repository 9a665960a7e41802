import { describe, expect, it } from "vitest";
import { type Decision, decision, nothing } from "./decision.ts";
import { lostEventMs, type Performed, type ReconcileSteps, reconcile } from "./reconcile.ts";

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

  it("performs no further action while it waits for an event, and looks again in case that the event is lost", async () => {
    const { requeueAfterMs, performed } = await run(() => decision("wait", "add"));

    expect(performed).toEqual(["wait at 0"]);
    expect(requeueAfterMs).toBe(lostEventMs);
  });

  it("looks again later if the next round has to wait for an event", async () => {
    const { requeueAfterMs } = await run(() => decision("add"), { observeAgain: async () => undefined });

    expect(requeueAfterMs).toBe(lostEventMs);
  });

  it("lets other keys go first after many rounds", async () => {
    const { requeueAfterMs, performed } = await run(() => decision("add"));

    expect(performed).toHaveLength(24);
    expect(requeueAfterMs).toBe(50);
  });
});

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
