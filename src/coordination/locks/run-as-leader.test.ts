import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { ProcessClock } from "../../../test/doubles/process-clock.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { Chance } from "../../../test/sim/chance.ts";
import type { Clock } from "../../time/index.ts";
import { CoordinationError } from "../errors.ts";
import { keyOf } from "../key.ts";
import { kubernetesLocks } from "../kubernetes/kubernetes-locks.ts";
import type { Lease } from "./locks.ts";
import { type LeaderWork, runAsLeader } from "./run-as-leader.ts";

const key = keyOf("leader", "poller");

describe("of several candidates", () => {
  it("one leads, and no other while it lives", async () => {
    const { candidate, clock, leaders } = world();
    candidate("a");
    candidate("b");
    candidate("c");

    for (let i = 0; i < 60; i++) {
      await clock.advance(1_000);
      expect(leaders()).toEqual(["a"]);
    }
  });

  it("the next leads as soon as the leader stops in order, with a larger fence", async () => {
    const { candidate, clock, leaders, terms } = world();
    const first = candidate("a");
    candidate("b");
    await clock.advance(100);

    first.stop();
    await clock.advance(100);

    expect(leaders()).toEqual(["b"]);
    expect(terms.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(terms[1]?.lease.fence).toBeGreaterThan(terms[0]?.lease.fence as bigint);
    await first.ended;
  });

  it("a paused leader is replaced after its ttl, and its work is aborted as soon as it runs again", async () => {
    const { candidate, clock, leaders, terms } = world();
    const first = candidate("a");
    candidate("b");
    await clock.advance(100);

    first.clock.pause();
    await clock.advance(40_000);
    const meanwhile = leaders();
    const stillSigned = terms[0]?.signal.aborted;
    first.clock.resume();
    await clock.advance(0);

    expect(meanwhile).toEqual(["b"]);
    expect(stillSigned).toBe(false);
    expect(terms[0]?.signal.aborted).toBe(true);
    expect(() => terms[0]?.lease.assertHeld()).toThrow(CoordinationError);
  });

  it("a leader that was replaced is a candidate again", async () => {
    const { candidate, clock, leaders } = world();
    const first = candidate("a");
    const second = candidate("b");
    await clock.advance(100);
    first.clock.pause();
    await clock.advance(40_000);
    first.clock.resume();
    await clock.advance(10_000);

    second.stop();
    await clock.advance(100);

    expect(leaders()).toEqual(["a"]);
  });

  it("a process does not lead again before its last work has ended", async () => {
    const { candidate, clock, terms } = world();
    let finish = () => {};
    const first = candidate(
      "a",
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    await clock.advance(100);
    first.clock.pause();
    await clock.advance(40_000);
    first.clock.resume();

    await clock.advance(60_000);
    const before = terms.length;
    finish();
    await clock.advance(60_000);

    expect(before).toBe(1);
    expect(terms.length).toBe(2);
  });
});

describe("work that fails while leading", () => {
  it("gives up the lead, is reported, and is tried again after a pause", async () => {
    const { candidate, clock, terms, failures } = world();
    candidate("a", async () => {
      throw new Error("no luck");
    });

    await clock.advance(10_000);

    expect(terms.length).toBeGreaterThan(2);
    expect(terms.length).toBeLessThan(12);
    expect(failures[0]).toMatchObject({ message: "no luck" });
  });
});

function world() {
  const clock = new ManualClock();
  const random = new Chance(7);
  const cluster = testCluster({ clock, random, namespaces: ["locks"] });
  const terms: { name: string; lease: Lease; signal: AbortSignal; over: boolean }[] = [];
  const failures: unknown[] = [];

  function candidate(name: string, work: LeaderWork = untilAborted) {
    const own = new ProcessClock(clock);
    const locks = openLocks(own, name);
    const stop = new AbortController();
    const ended = runAsLeader(
      locks,
      key,
      async (lease, signal) => {
        const term = { name, lease, signal, over: false };
        terms.push(term);
        await work(lease, signal).finally(() => {
          term.over = true;
        });
      },
      { clock: own, random, signal: stop.signal, ttlMs: 30_000, events: { failed: (error) => failures.push(error) } },
    );
    return { clock: own, ended, stop: () => stop.abort() };
  }

  function openLocks(own: Clock, who: string) {
    return kubernetesLocks({ client: cluster.client(who), clock: own, random, namespace: "locks", prefix: "t-", who });
  }

  /** The leaders by their own clocks. */
  const leaders = () => terms.filter(({ lease, over }) => !over && lease.remainingMs() > 0).map(({ name }) => name);
  return { clock, candidate, leaders, terms, failures };
}

function untilAborted(_lease: Lease, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
