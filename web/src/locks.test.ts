import { describe, expect, it } from "vitest";
import type { Lock, TargetRow } from "../../src/console/wire.ts";
import { orderLocks, toHeldLock } from "./locks.ts";

describe("locks", () => {
  it("include targets, which an execution holds", () => {
    const row: TargetRow = {
      kind: "targets",
      key: "interlock/t-1",
      name: "t-1",
      version: "7",
      createdAt: "2026-11-16T08:00:00Z",
      target: "node/worker-1",
      holder: "interlock/wfe-1",
      fence: "12",
      heldSince: "2026-11-16T09:00:00Z",
      waiting: 2,
    };

    expect(toHeldLock(row)).toEqual({
      key: "node/worker-1",
      holder: "interlock/wfe-1",
      execution: "interlock/wfe-1",
      fence: "12",
      since: "2026-11-16T09:00:00Z",
      waiters: 2,
    });
  });

  it("are listed with waiters first, then by how long they are held, and those not held last", () => {
    const locks: readonly Lock[] = [
      { key: "free", waiters: 0 },
      { key: "young", holder: "a", since: "2026-11-16T10:00:00Z", waiters: 0 },
      { key: "old", holder: "a", since: "2026-11-16T09:00:00Z", waiters: 0 },
      { key: "wanted", holder: "a", since: "2026-11-16T11:00:00Z", waiters: 3 },
    ];

    expect(orderLocks(locks, "").map(({ key }) => key)).toEqual(["wanted", "old", "young", "free"]);
  });

  it("are searched by words of key and holder, in any case", () => {
    const locks: readonly Lock[] = [
      { key: "node/worker-1", holder: "payment/wfe-1", waiters: 0 },
      { key: "node/worker-2", holder: "shop/wfe-2", waiters: 0 },
    ];

    expect(orderLocks(locks, " NODE shop ").map(({ key }) => key)).toEqual(["node/worker-2"]);
  });
});
