import { describe, expect, it } from "vitest";
import { type ClaimsBackend, ClaimWorld } from "../../../test/coordination/claim-world.ts";
import { keyOf } from "../key.ts";
import type { Claim } from "./claims.ts";

export interface ClaimsCase {
  readonly name: string;
  run(world: ClaimWorld): Promise<void>;
}

/** Runs every case against a backend made by `make`. */
export function claimsContract(name: string, make: () => Promise<ClaimsBackend>): void {
  // Side by side: on a real server the cases spend most of their time waiting for leases to run out.
  describe.concurrent(`${name}: a claim`, () => {
    for (const { name, run } of claimsCases) {
      it(name, async () => {
        const world = new ClaimWorld(await make());
        try {
          await run(world);
        } finally {
          await world.stop();
        }
      });
    }
  });
}

const key = keyOf("review", "gitlab.example.com", 42, 7, "abc123");

/** What every backend promises. Shared with the mutants, each of which must fail at least one of these. */
export const claimsCases: readonly ClaimsCase[] = [
  {
    name: "is new for exactly one of many processes that ask at once",
    async run(world) {
      const processes = [];
      for (let i = 0; i < 5; i++) processes.push(await world.process());

      const answers = await Promise.all(processes.map((process) => process.claim(key)));

      expect(states(answers)).toEqual(["in-flight", "in-flight", "in-flight", "in-flight", "new"]);
    },
  },
  {
    name: "is in flight for a second caller of the same process",
    async run(world) {
      const process = await world.process();

      const first = await process.claim(key);
      const second = await process.claim(key);

      expect(states([first, second])).toEqual(["in-flight", "new"]);
    },
  },
  {
    name: "costs one request when many callers of a process claim it, concurrently or later",
    async run(world) {
      const process = await world.process();

      const answers = await Promise.all(Array.from({ length: 20 }, () => process.claim(key)));
      answers.push(await process.claim(key));

      expect(answers.filter(({ state }) => state === "new")).toHaveLength(1);
      expect(answers.filter(({ state }) => state === "in-flight")).toHaveLength(20);
      expect(process.wire.claimsSent).toBe(1);
    },
  },
  {
    name: "reports the holder that works on it",
    async run(world) {
      const [one, two] = [await world.process("agent/pod-1/17"), await world.process()];
      const claim = await one.new(key);

      const answer = await two.claim(key);

      expect(answer).toMatchObject({ state: "in-flight", holder: { id: claim.holder, who: "agent/pod-1/17" } });
    },
  },
  {
    name: "is independent of other keys, even similar ones",
    async run(world) {
      const process = await world.process();
      const keys = [
        keyOf("jira", "a:b", "c"),
        keyOf("jira", "a", "b:c"),
        keyOf("jira", "a", "PROJ-1"),
        keyOf("jira", "a", "proj-1"),
        keyOf("jira", "b", "PROJ-1"),
        keyOf("note", "a", "PROJ-1"),
      ];

      const answers = await Promise.all(keys.map((each) => process.claim(each)));

      expect(answers.map(({ state }) => state)).toEqual(keys.map(() => "new"));
    },
  },
  {
    name: "is done, with its result, for every process once it was completed",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const claim = await one.new(key);

      const outcome = await world.within(claim.complete("merged"));

      expect(outcome).toEqual({ completed: true });
      expect(await two.claim(key)).toMatchObject({ state: "done", result: "merged" });
      expect(await one.claim(key)).toMatchObject({ state: "done", result: "merged" });
    },
  },
  {
    name: "stays done when the process that completed it is replaced",
    async run(world) {
      const one = await world.process();
      await world.within((await one.new(key)).complete("merged"));
      await world.within(one.claims.close());

      const two = await world.process();

      expect(await two.claim(key)).toMatchObject({ state: "done", result: "merged" });
    },
  },
  {
    name: "reports when it was done, by the clock of the store",
    async run(world) {
      const process = await world.process(undefined, { skewMs: 3_600_000 });
      const beforeMs = world.wallMs;
      await world.within((await process.new(key)).complete());

      const answer = await process.claim(key);

      expect(answer).toMatchObject({ state: "done", atMs: expect.any(Number) });
      // A memory store has no clock but the process' own.
      const skews = process.claims.guarantee === "process" ? [0, 3_600_000] : [0];
      const offMs = "atMs" in answer ? answer.atMs - beforeMs : Number.NaN;
      expect(Math.min(...skews.map((skew) => Math.abs(offMs - skew)))).toBeLessThan(5_000);
    },
  },
  {
    name: "returns results and errors unchanged, including special characters",
    async run(world) {
      const process = await world.process();
      const text = '|D|7|\n"ü" 😀 %7C \\ | ';

      await world.within((await process.new(key)).complete(text));
      const other = keyOf("other");
      await world.within((await process.new(other)).fail({ permanent: text }));

      expect(await process.claim(key)).toMatchObject({ state: "done", result: text });
      expect(await process.claim(other)).toMatchObject({ state: "failed", error: text });
    },
  },
  {
    name: "is remembered as done for its ttl and no longer",
    async run(world) {
      const process = await world.process();
      await world.within((await process.new(key, { doneTtlMs: world.leaseMs * 2 })).complete());

      await world.pass(world.leaseMs * 1.5);
      const within = await process.claim(key);
      await world.pass(world.leaseMs * 0.7);
      const after = await process.claim(key);

      expect([within.state, after.state]).toEqual(["done", "new"]);
    },
  },
  {
    name: "is renewed as long as its process works on it",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const claim = await one.new(key);

      for (let i = 0; i < 6; i++) {
        await world.pass(world.leaseMs / 2);
        expect((await two.claim(key)).state).toBe("in-flight");
      }

      claim.assertHeld();
      expect(await world.within(claim.complete())).toEqual({ completed: true });
    },
  },
  {
    name: "is new again, with a larger fence, after its process has died",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const first = await one.new(key);
      one.crash();

      const meanwhile = await two.claim(key);
      const second = await two.untilNew(key, world.leaseMs * 2);

      expect(meanwhile.state).toBe("in-flight");
      expect(second.fence).toBeGreaterThan(first.fence);
    },
  },
  {
    name: "has a larger fence each time it is new again",
    async run(world) {
      const process = await world.process();
      const fences = [];

      for (let i = 0; i < 3; i++) {
        const given = await process.new(key);
        fences.push(given.fence);
        await world.within(given.fail({ retryAfterMs: 0 }));
        const done = await process.new(key, { doneTtlMs: 1 });
        fences.push(done.fence);
        await world.within(done.complete());
        await world.pass(20);
      }

      expect(fences).toEqual([...new Set(fences)].sort((a, b) => (a < b ? -1 : 1)));
    },
  },
  {
    name: "is in flight without a holder after a failure until its retry time, and then new",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const claim = await one.new(key);

      const outcome = await world.within(claim.fail({ retryAfterMs: world.leaseMs }));
      const at0 = await two.claim(key);
      await world.pass(world.leaseMs * 0.6);
      const at06 = await two.claim(key);
      await world.pass(world.leaseMs * 0.5);
      const at11 = await two.claim(key);

      expect(outcome).toEqual({ failed: true });
      expect(at0).toMatchObject({ state: "in-flight", holder: undefined });
      expect("retryAfterMs" in at0 && at0.retryAfterMs).toBeGreaterThan(world.leaseMs * 0.5);
      expect("retryAfterMs" in at0 && at0.retryAfterMs).toBeLessThanOrEqual(world.leaseMs + 1);
      expect([at06.state, at11.state]).toEqual(["in-flight", "new"]);
    },
  },
  {
    name: "is not retried after a permanent failure until its ttl ends",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const claim = await one.new(key, { doneTtlMs: world.leaseMs });

      await world.within(claim.fail({ permanent: "no such project" }));
      const remembered = await two.claim(key);
      await world.pass(world.leaseMs * 1.2);
      const forgotten = await two.claim(key);

      expect(remembered).toMatchObject({ state: "failed", error: "no such project", atMs: expect.any(Number) });
      expect(forgotten.state).toBe("new");
    },
  },
  {
    name: "is new at once when it is released unfinished",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];

      await world.within((await one.new(key))[Symbol.asyncDispose]());

      expect((await two.claim(key)).state).toBe("new");
    },
  },
  {
    name: "is settled by the first call of complete or fail; later calls change nothing",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const claim = await one.new(key);
      await world.within(claim.complete("first"));

      const again = await world.within(claim.complete("second"));
      const late = await world.within(claim.fail({ retryAfterMs: 0 }));
      await world.within(claim[Symbol.asyncDispose]());

      expect(again).toEqual({ completed: true });
      expect(late).toEqual({ failed: false, reason: "lost" });
      expect(() => claim.assertHeld()).toThrow("already settled");
      expect(await two.claim(key)).toMatchObject({ state: "done", result: "first" });
    },
  },
  {
    name: "is rejected for another payload in every state",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const [first, other] = [{ payloadHash: "sha256-aa" }, { payloadHash: "sha256-bb" }];
      const mismatch = { code: "mismatch" };

      const claim = await one.new(key, first);
      await expect(one.claim(key, other)).rejects.toMatchObject(mismatch);
      await expect(two.claim(key, other)).rejects.toMatchObject(mismatch);
      expect((await two.claim(key, first)).state).toBe("in-flight");
      await world.within(claim.complete());
      await expect(two.claim(key, other)).rejects.toMatchObject(mismatch);
      expect((await two.claim(key, first)).state).toBe("done");
      expect((await two.claim(key)).state).toBe("done");

      const [failing, failed] = [keyOf("failing"), keyOf("failed")];
      await world.within((await one.new(failing, first)).fail({ retryAfterMs: 60_000 }));
      await expect(two.claim(failing, other)).rejects.toMatchObject(mismatch);
      await world.within((await one.new(failed, first)).fail({ permanent: "no" }));
      await expect(two.claim(failed, other)).rejects.toMatchObject(mismatch);
    },
  },
  {
    name: "is an error when the store does not answer, soon and never new",
    async run(world) {
      const process = await world.process();
      process.wire.mode = "cut";

      const asked = world.within(process.claims.claim(key), 3_000);

      await expect(asked).rejects.toMatchObject({ name: "CoordinationError", code: "unavailable" });
      expect(process.reported).toEqual(["unavailable"]);
    },
  },
  {
    name: "is new when only the response was lost",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      one.wire.mode = "lose-replies";
      const asked = one.claims.claim(key, { leaseMs: world.leaseMs });
      await world.pass(5);
      one.wire.mode = "pass";

      const claim = await world.within(asked);

      expect(claim.state).toBe("new");
      expect((await two.claim(key)).state).toBe("in-flight");
      if (claim.state === "new") expect(await world.within(claim.complete())).toEqual({ completed: true });
    },
  },
  {
    name: "can be claimed again by its own process after there was no response",
    async run(world) {
      const process = await world.process();
      process.wire.mode = "lose-replies";
      const unheard = process.claim(key, { leaseMs: 60_000, payloadHash: "sha256-aa" });
      await expect(unheard).rejects.toMatchObject({ code: "unavailable" });
      process.wire.mode = "pass";

      const claim = await process.claim(key, { leaseMs: 60_000, payloadHash: "sha256-bb" });

      expect(claim.state).toBe("new");
      const other = await world.process();
      expect((await other.claim(key, { payloadHash: "sha256-bb" })).state).toBe("in-flight");
    },
  },
  {
    name: "is completed when only the response was lost",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const claim = await one.new(key);
      one.wire.mode = "lose-replies";
      const completed = claim.complete("merged");
      await world.pass(5);
      one.wire.mode = "pass";

      expect(await world.within(completed)).toEqual({ completed: true });
      expect(one.reported).not.toContain("late complete");
      expect(await two.claim(key)).toMatchObject({ state: "done", result: "merged" });
    },
  },
  {
    name: "is released when only the response was lost",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const claim = await one.new(key);
      one.wire.mode = "lose-replies";
      const failed = claim.fail({ retryAfterMs: 0 });
      await world.pass(5);
      one.wire.mode = "pass";

      expect(await world.within(failed)).toEqual({ failed: true });
      expect((await two.claim(key)).state).toBe("new");
    },
  },
  {
    name: "is not reported as completed when the store never responded, and is retried",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const claim = await one.new(key);
      one.wire.mode = "cut";

      const outcome = await world.within(claim.complete(), world.leaseMs * 2);

      expect(outcome).toEqual({ completed: false, reason: "unknown" });
      expect((await two.untilNew(key, world.leaseMs * 2)).state).toBe("new");
    },
  },
  {
    name: "survives a renewal without a response",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const claim = await one.new(key);
      one.wire.mode = "cut";
      await world.pass(world.leaseMs * 0.45);
      one.wire.mode = "pass";

      await world.pass(world.leaseMs * 2);

      expect(one.reported).toContain("renewal failed");
      claim.assertHeld();
      expect((await two.claim(key)).state).toBe("in-flight");
    },
  },
  {
    name: "ends by the local clock when the store stops responding, before another process can claim it",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const claim = await one.new(key);
      let endedAt = Number.POSITIVE_INFINITY;
      claim.signal.addEventListener("abort", () => {
        endedAt = world.now;
      });
      one.wire.mode = "silent";

      await two.untilNew(key, world.leaseMs * 2);

      expect(endedAt).toBeLessThanOrEqual(world.now);
      expect(claim.signal.reason).toMatchObject({ code: "lost" });
      expect(claim.remainingMs()).toBeLessThanOrEqual(0);
      expect(() => claim.assertHeld()).toThrow(expect.objectContaining({ code: "lost" }));
      expect(one.reported).toContain("lost");
    },
  },
  {
    name: "ends as soon as a renewal returns lost",
    async run(world) {
      const process = await world.process();
      const claim = await process.new(key);
      const { signal } = claim;
      await world.forget(key);

      await world.pass(world.leaseMs * 0.6);

      expect(signal.aborted).toBe(true);
      expect(() => claim.assertHeld()).toThrow(expect.objectContaining({ code: "lost" }));
    },
  },
  {
    name: "ends after maxHoldMs",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const claim = await one.new(key, { maxHoldMs: world.leaseMs * 1.5 });
      const { signal } = claim;

      await world.pass(world.leaseMs);
      expect(signal.aborted).toBe(false);
      await two.untilNew(key, world.leaseMs * 3);

      expect(signal.aborted).toBe(true);
    },
  },
  {
    name: "is released instead of returned when the response took longer than the lease",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      one.wire.replyDelayMs = world.leaseMs * 1.2;
      const asked = one.claims.claim(key, { leaseMs: world.leaseMs });
      await world.pass(5);
      one.wire.replyDelayMs = 0;

      await expect(world.within(asked)).rejects.toMatchObject({ code: "unavailable" });
      expect((await two.claim(key)).state).toBe("new");
    },
  },
  {
    name: "returns lost when it is completed after it was lost, and does not affect its successor",
    async run(world) {
      const [one, two, three] = [await world.process(), await world.process(), await world.process()];
      const late = await one.new(key);
      one.pause();
      const successor = await two.untilNew(key, world.leaseMs * 2);

      await one.resume();
      const outcome = await world.within(late.complete("late"));

      expect(outcome).toEqual({ completed: false, reason: "lost" });
      expect(one.reported).toContain("late complete");
      expect((await three.claim(key)).state).toBe("in-flight");
      expect(await world.within(successor.complete("good"))).toEqual({ completed: true });
      expect(two.reported).not.toContain("late complete");
      expect(await three.claim(key)).toMatchObject({ state: "done", result: "good" });
    },
  },
  {
    name: "returns lost when it is completed after its successor",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const late = await one.new(key);
      one.pause();
      await world.within((await two.untilNew(key, world.leaseMs * 2)).complete("good"));

      await one.resume();
      const outcome = await world.within(late.complete("late"));

      expect(outcome).toEqual({ completed: false, reason: "lost" });
      expect(one.reported).toContain("late complete");
      expect(await two.claim(key)).toMatchObject({ state: "done", result: "good" });
    },
  },
  {
    name: "is not lost after it was settled",
    async run(world) {
      const process = await world.process();
      const claim = await process.new(key);
      const { signal } = claim;
      await world.within(claim.complete());

      await world.pass(world.leaseMs * 1.5);

      expect(signal.aborted).toBe(false);
      expect(process.reported).toEqual(["new"]);
    },
  },
  {
    name: "failed after it was lost does not free its successor's",
    async run(world) {
      const [one, two, three] = [await world.process(), await world.process(), await world.process()];
      const late = await one.new(key);
      one.pause();
      const successor = await two.untilNew(key, world.leaseMs * 2);

      await one.resume();
      const outcome = await world.within(late.fail({ retryAfterMs: 0 }));

      expect(outcome).toEqual({ failed: false, reason: "lost" });
      expect((await three.claim(key)).state).toBe("in-flight");
      successor.assertHeld();
    },
  },
  {
    name: "expires on time when the wall clock of its process is wrong",
    async run(world) {
      const hour = 3_600_000;
      const ahead = await world.process("ahead", { skewMs: hour });
      const behind = await world.process("behind", { skewMs: -hour });
      const [held, crashed, done] = [keyOf("held"), keyOf("crashed"), keyOf("done")];

      await behind.new(held);
      await ahead.new(crashed);
      await world.within((await ahead.new(done, { doneTtlMs: 60_000 })).complete());

      expect((await ahead.claim(held)).state).toBe("in-flight");
      expect((await behind.claim(done)).state).toBe("done");
      ahead.crash();
      expect((await behind.untilNew(crashed, world.leaseMs * 2)).state).toBe("new");
      expect((await (await world.process("third", { skewMs: hour })).claim(done)).state).toBe("done");
    },
  },
  {
    name: "is released when its process closes, and later claims are rejected",
    async run(world) {
      const [one, two] = [await world.process(), await world.process()];
      const claim = await one.new(key);
      const { signal } = claim;

      await world.within(one.claims.close());

      expect(signal.reason).toMatchObject({ code: "closed" });
      expect(one.reported).not.toContain("lost");
      await expect(one.claim(key)).rejects.toMatchObject({ code: "closed" });
      expect((await two.claim(key)).state).toBe("new");
    },
  },
];

function states(answers: readonly Claim[]): string[] {
  return answers.map(({ state }) => state).sort();
}
