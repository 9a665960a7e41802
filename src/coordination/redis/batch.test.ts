import { describe, expect, it } from "vitest";
import { ManualClock, settle } from "../../../test/doubles/manual-clock.ts";
import { keyOf } from "../key.ts";
import { Batch } from "./batch.ts";
import type { LockLink, LockOperation, Replies } from "./lock-link.ts";

describe("lock operations that come together", () => {
  it("are sent in one call if they are few", async () => {
    const { batch, calls } = world();

    void ask(batch, 15);
    await settle();

    expect(calls.map(({ numbers }) => numbers.length)).toEqual([15]);
  });

  it("are sent in two calls, in order, if they are many: the server works on one while we read the other", async () => {
    const { batch, calls } = world();

    void ask(batch, 16);
    await settle();

    expect(calls.map(({ numbers }) => numbers)).toEqual([range(0, 8), range(8, 16)]);
  });

  it("wait for a reply while two calls are pending, and are then sent together", async () => {
    const { batch, calls } = world();
    void ask(batch, 16);
    await settle();

    void ask(batch, 20, 16);
    await settle();
    const before = calls.length;
    calls[0]?.reply();
    await settle();

    expect(before).toBe(2);
    expect(calls[2]?.numbers).toEqual(range(16, 36));
  });

  it("resolve in their order with the replies to them", async () => {
    const { batch, calls } = world();

    const asked = ask(batch, 40);
    await settle();
    for (const { reply } of calls) reply();

    expect(await asked).toEqual(range(0, 40));
  });
});

/** A link whose calls are answered by the test: each operation with its own number. */
function world() {
  const calls: { readonly numbers: readonly number[]; readonly reply: () => void }[] = [];
  const link: LockLink = {
    isUp: true,
    send: (operations) =>
      new Promise<Replies>((resolve) => {
        const numbers = operations.map(({ number }) => number);
        calls.push({ numbers, reply: () => resolve({ each: numbers }) });
      }),
    listen() {},
    close: async () => {},
  };
  return { batch: new Batch(link, new ManualClock(), () => {}), calls };
}

function ask(batch: Batch, count: number, from = 0): Promise<unknown[]> {
  return Promise.all(range(from, from + count).map((number) => batch.send(operation(number))));
}

function operation(number: number): LockOperation {
  return { mode: "a", key: keyOf("repo", number), holder: `c.${number}`, ttlMs: 30_000, number, tail: "" };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}
