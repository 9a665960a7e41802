import { expect, it } from "vitest";
import { ManualClock, settle } from "../../../test/doubles/manual-clock.ts";
import { Agenda, systemRandom } from "../../time/index.ts";
import { keyOf } from "../key.ts";
import type { Bid, Terms } from "../locks/lock-store.ts";
import type { LinkListener, LockOperation, Replies } from "./lock-link.ts";
import { RedisLockStore } from "./redis-lock-store.ts";

const queued: Replies = { serverMs: 50_000, each: [[0, 30_000, "other|1|key|them|", 0]] };
const push = "me|77|50001|2000";

it("a bid is granted by a push that overtakes the first response of a new connection", async () => {
  const { clock, store, bid, listener, calls, granted } = world();
  store.ask(bid);
  await settle();

  listener().push(push);
  const before = granted.length;
  calls[0]?.reply(queued);
  await settle();

  expect(before).toBe(0);
  expect(granted).toMatchObject([{ fence: 77n, unconfirmed: true }]);
  const validMs = (granted[0]?.deadline ?? 0) - clock.now();
  // 2,001 ms after the reading, less drift and margin.
  expect(validMs).toBeGreaterThan(1_900);
  expect(validMs).toBeLessThan(2_001);
});

it("a bid is not granted by a push from before the connection broke", async () => {
  const { store, bid, listener, calls, granted } = world();
  store.ask(bid);
  await settle();

  listener().push(push);
  listener().down();
  calls[0]?.reply(queued);
  await settle();

  expect(granted).toEqual([]);
});

function world() {
  const clock = new ManualClock();
  const calls: { readonly operations: readonly LockOperation[]; reply(replies: Replies): void }[] = [];
  let listener: LinkListener | undefined;
  const link = {
    isUp: true,
    send: (operations: readonly LockOperation[]) =>
      new Promise<Replies>((reply) => {
        calls.push({ operations, reply });
      }),
    listen: (added: LinkListener) => {
      listener = added;
    },
    close: async () => {},
  };
  const agenda = new Agenda(clock, 4);
  const store = new RedisLockStore({ clock, random: systemRandom(), agenda, link, who: "test" });
  const granted: Terms[] = [];
  const bid: Bid = {
    ...{ key: keyOf("key"), holder: "me", ttlMs: 30_000, wait: true, cohort: 1, purpose: undefined },
    granted: (terms) => void granted.push(terms),
    queued: () => {},
    busy: () => {},
    failed: (error) => {
      throw error;
    },
  };
  return { clock, store, bid, calls, granted, listener: () => listener as LinkListener };
}
