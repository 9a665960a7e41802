import { describe, expect, it } from "vitest";
import { ManualClock, settle } from "../../../test/doubles/manual-clock.ts";
import { systemRandom } from "../../time/index.ts";
import { keyOf } from "../key.ts";
import { MemoryClaimStore } from "../memory/memory-claims.ts";
import { claimsOver } from "./claim-client.ts";
import type { ClaimEvents } from "./claims.ts";
import { type OnceOptions, once } from "./once.ts";

const key = keyOf("review", 42);
const options: OnceOptions = { effect: "idempotent" };

describe("work that is to happen once", () => {
  it("runs, and its result is remembered", async () => {
    const { process } = setUp();
    const [here, elsewhere] = [process(), process()];

    const ran = await once(here, key, options, async () => "merged");
    const later = await once(elsewhere, key, options, neverRuns);

    expect(ran).toEqual({ kind: "ran", result: "merged", recorded: { completed: true } });
    expect(later).toMatchObject({ kind: "done", result: "merged", atMs: expect.any(Number) });
  });

  it("runs once for many callers of a process, and all get its result", async () => {
    const { process } = setUp();
    const claims = process();
    let runs = 0;
    async function work() {
      runs++;
      await settle();
      return "merged";
    }

    const outcomes = await Promise.all(Array.from({ length: 10 }, () => once(claims, key, options, work)));

    expect(runs).toBe(1);
    expect(outcomes).toEqual(Array(10).fill({ kind: "ran", result: "merged", recorded: { completed: true } }));
  });

  it("is in flight for other processes, which do not wait", async () => {
    const { process } = setUp();
    const [here, elsewhere] = [process("here"), process("elsewhere")];
    const running = once(here, key, options, () => new Promise(() => {}));
    await settle();

    const outcome = await once(elsewhere, key, options, neverRuns);

    expect(outcome).toMatchObject({ kind: "in-flight", holder: { who: "here" } });
    void running;
  });

  it("that throws is retried after a minute, and the caller gets its error", async () => {
    const { process, clock } = setUp();
    const claims = process();
    const broken = new Error("GitLab is down");

    await expect(once(claims, key, options, () => Promise.reject(broken))).rejects.toBe(broken);
    const soon = await once(claims, key, options, neverRuns);
    await clock.advance(60_000);
    const later = await once(claims, key, options, async () => "merged");

    expect(soon).toEqual({ kind: "in-flight", holder: undefined, retryAfterMs: 60_000 });
    expect(later).toMatchObject({ kind: "ran", result: "merged" });
  });

  it("is not retried after a permanent error", async () => {
    const { process, clock } = setUp();
    const claims = process();
    const hopeless = { ...options, isPermanent: () => true };

    await expect(once(claims, key, hopeless, () => Promise.reject(new Error("no such project")))).rejects.toThrow();
    await clock.advance(120_000);

    expect(await once(claims, key, options, neverRuns)).toMatchObject({
      kind: "failed",
      error: "Error: no such project",
    });
  });

  it("stores only the beginning of a long error", async () => {
    const { process } = setUp();
    const claims = process();
    const hopeless = { ...options, isPermanent: () => true };

    await expect(once(claims, key, hopeless, () => Promise.reject(new Error("x".repeat(100_000))))).rejects.toThrow();

    expect(await once(claims, key, options, neverRuns)).toMatchObject({
      kind: "failed",
      error: expect.stringMatching(/^Error: x{4089}$/),
    });
  });

  it("rejects with a TypeError if its result is too long, and releases the claim", async () => {
    const { process } = setUp();
    const claims = process();

    await expect(once(claims, key, options, async () => "x".repeat(65_537))).rejects.toThrow(TypeError);

    expect(await once(claims, key, options, async () => "short")).toMatchObject({ kind: "ran", result: "short" });
  });

  it("does not share the run of another payload", async () => {
    const { process } = setUp();
    const claims = process();
    const running = once(claims, key, { ...options, payloadHash: "aa" }, () => new Promise(() => {}));
    await settle();

    const other = once(claims, key, { ...options, payloadHash: "bb" }, neverRuns);

    await expect(other).rejects.toMatchObject({ code: "mismatch" });
    void running;
  });

  it("reports that its result was not recorded if it outlived its claim", async () => {
    const { process, clock } = setUp();
    const [here, elsewhere] = [process(), process()];

    const outcome = await once(here, key, { ...options, leaseMs: 1_000 }, async (claim) => {
      clock.jump(2_000);
      await once(elsewhere, key, options, async () => "another holder's");
      expect(() => claim.assertHeld()).toThrow();
      return "mine";
    });

    expect(outcome).toEqual({ kind: "ran", result: "mine", recorded: { completed: false, reason: "lost" } });
  });

  it("may run again after its caller got an error", async () => {
    const { process, clock } = setUp();
    const claims = process();
    await once(claims, key, { ...options, doneTtlMs: 1_000 }, async () => undefined);
    await clock.advance(1_000);

    expect(await once(claims, key, options, async () => "again")).toMatchObject({ kind: "ran", result: "again" });
  });

  it("reports for metrics why a repetition is harmless", async () => {
    const effects: unknown[] = [];
    const { process } = setUp({ answered: (_key, state, effect) => void effects.push([state, effect]) });

    await once(process(), key, { effect: "at-least-once" }, async () => undefined);

    expect(effects).toEqual([["new", "at-least-once"]]);
  });
});

describe("what cannot be claimed", () => {
  it.each([
    [{ leaseMs: 499 }, "leaseMs"],
    [{ leaseMs: Number.NaN }, "leaseMs"],
    [{ doneTtlMs: 0 }, "doneTtlMs"],
    [{ doneTtlMs: Number.POSITIVE_INFINITY }, "doneTtlMs"],
    [{ maxHoldMs: 0 }, "maxHoldMs"],
    [{ payloadHash: "a|b" }, "payloadHash"],
    [{ payloadHash: "" }, "payloadHash"],
  ])("%j is a mistake of the caller", async (wants, named) => {
    const { process } = setUp();

    await expect(process().claim(key, wants)).rejects.toThrow(new RegExp(`^${named} `));
  });

  it("has a result that is too long, or a negative delay", async () => {
    const { process } = setUp();
    const claim = await process().claim(key);
    if (claim.state !== "new") throw new Error(claim.state);

    await expect(claim.complete("x".repeat(65_537))).rejects.toThrow(TypeError);
    await expect(claim.fail({ retryAfterMs: -1 })).rejects.toThrow(TypeError);
    await expect(claim.fail({ retryAfterMs: 1e300 })).rejects.toThrow("retryAfterMs must be between 0 and");
    expect(await claim.complete("x".repeat(65_536))).toEqual({ completed: true });
  });
});

function setUp(events: ClaimEvents = {}) {
  const clock = new ManualClock();
  const store = new MemoryClaimStore({ clock });
  const process = (who?: string) =>
    claimsOver(store, { clock, random: systemRandom(), events, ...(who !== undefined && { who }) });
  return { clock, process };
}

async function neverRuns(): Promise<string> {
  throw new Error("this ran twice");
}
