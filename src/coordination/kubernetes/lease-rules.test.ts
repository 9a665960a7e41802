import { describe, expect, it } from "vitest";
import type { KubeLease } from "../../kube/index.ts";
import { keyOf } from "../key.ts";
import {
  addWaiter,
  type Claimant,
  describeHolder,
  handOverLease,
  isWaiting,
  lockLabels,
  newLease,
  nextMove,
  periodOf,
  removeWaiter,
  sameHolding,
  takeLease,
} from "./lease-rules.ts";

const key = keyOf("target", "a");
const seenAt = 1_000;
/** A whole period of 10 s after we saw it, with what clocks may drift and a margin. */
const expiresAt = seenAt + 10_000 * 1.005 + 10;

describe("the next move of a claimant", () => {
  it.each([
    ["creates a Lease that is not there", undefined, {}, seenAt, { do: "create" }],
    ["takes a free one", lease({ holder: "" }), {}, seenAt, { do: "take" }],
    [
      "takes a free one in which it is first in line",
      lease({ holder: "", waiters: "me,b" }),
      {},
      seenAt,
      { do: "take" },
    ],
    ["joins behind other waiters of a free one", lease({ holder: "", waiters: "b" }), {}, seenAt, { do: "join" }],
    ["steps in when they do not come", lease({ holder: "", waiters: "b" }), {}, seenAt + 500, { do: "take" }],
    [
      "gives up on one that others wait for, if it does not wait",
      lease({ holder: "", waiters: "b" }),
      { wait: false },
      seenAt,
      { do: "give-up", because: "busy" },
    ],
    ["confirms a handed over lock", lease({ holder: "me" }), {}, seenAt, { do: "confirm" }],
    ["confirms a handed over lock however late", lease({ holder: "me" }), {}, expiresAt + 1e6, { do: "confirm" }],
    ["joins the line of one that is held", lease(), {}, seenAt, { do: "join" }],
    ["joins behind others", lease({ waiters: "b,c" }), {}, seenAt, { do: "join" }],
    [
      "gives up on one that is held, if it does not wait",
      lease(),
      { wait: false },
      seenAt,
      { do: "give-up", because: "busy" },
    ],
    [
      "waits in line until the holder is given up",
      lease({ waiters: "me" }),
      {},
      seenAt,
      { do: "wait", until: expiresAt },
    ],
    [
      "lets those ahead of it go first",
      lease({ waiters: "b,c,me" }),
      {},
      seenAt,
      { do: "wait", until: expiresAt + 1_000 },
    ],
    [
      "does not take over a moment too early",
      lease({ waiters: "me" }),
      {},
      expiresAt - 1,
      { do: "wait", until: expiresAt },
    ],
    ["takes over when the whole period has passed here", lease({ waiters: "me" }), {}, expiresAt, { do: "take" }],
    ["takes over without having waited in line", lease(), {}, expiresAt, { do: "take" }],
    ["takes over without waiting, if it does not wait", lease(), { wait: false }, expiresAt, { do: "take" }],
    [
      "does not go by a time written long ago",
      lease({ renewTime: "1999-01-01T00:00:00.000000Z", waiters: "me" }),
      {},
      seenAt,
      { do: "wait", until: expiresAt },
    ],
    [
      "does not go by a time written far ahead",
      lease({ renewTime: "2999-01-01T00:00:00.000000Z" }),
      {},
      expiresAt,
      { do: "take" },
    ],
    [
      "gives a record without a duration half a minute",
      lease({ durationSeconds: undefined, waiters: "me" }),
      {},
      seenAt,
      { do: "wait", until: seenAt + 30_000 * 1.005 + 10 },
    ],
    [
      "waits outside a line that is full",
      lease({ waiters: names(32) }),
      {},
      seenAt,
      { do: "wait", until: expiresAt + 16_000 },
    ],
    ["refuses a Lease of another key", lease({ key: "other" }), {}, seenAt, { do: "give-up", because: "collision" }],
    ["refuses a Lease of no key", lease({ key: undefined }), {}, expiresAt, { do: "give-up", because: "collision" }],
  ] as const)("%s", (_what, known, claimant, now, move) => {
    expect(nextMove(known && { lease: known, since: seenAt }, me(claimant), now)).toEqual(move);
  });
});

describe("a Lease that is taken", () => {
  it("from another holder is written whole: new times, new duration and one more transition", () => {
    const before = lease({ holder: "b", waiters: "me,c", transitions: 7 });

    const { spec, metadata } = takeLease(before, me({ ttlMs: 20_000 }), wallMs);

    expect(spec).toEqual({
      holderIdentity: "me",
      leaseDurationSeconds: 20,
      acquireTime: "2023-11-14T22:13:20.000000Z",
      renewTime: "2023-11-14T22:13:20.000000Z",
      leaseTransitions: 8,
    });
    expect(metadata.annotations).toEqual({
      "kubernaut.ai/key": key,
      "kubernaut.ai/waiters": "c",
      "kubernaut.ai/holder": "gateway/pod-1/1",
      "kubernaut.ai/purpose": "a test",
    });
    expect(metadata.resourceVersion).toBe("5");
  });

  it("lasts for whole seconds, no less than it was asked for", () => {
    const seconds = [500, 1_000, 1_001, 29_999].map(
      (ttlMs) => takeLease(lease(), me({ ttlMs }), 0).spec?.leaseDurationSeconds,
    );

    expect(seconds).toEqual([1, 1, 2, 30]);
  });

  it("keeps since when it is held, and the count of its holders, when its holder renews it", () => {
    const first = takeLease(lease(), me(), wallMs);

    const renewed = takeLease(first, me(), wallMs + 3_000);

    expect(renewed.spec).toEqual({ ...first.spec, renewTime: "2023-11-14T22:13:23.000000Z" });
  });

  it("shows each renewal as one, even on a clock that was set back", () => {
    const first = takeLease(lease(), me(), wallMs);

    const renewed = takeLease(first, me(), wallMs - 3_600_000);

    expect(renewed.spec?.renewTime).toBe("2023-11-14T22:13:20.001000Z");
    expect(sameHolding(first, renewed)).toBe(false);
  });

  it("drops waiters that were ahead and did not confirm", () => {
    const before = lease({ waiters: "b,c,me,d" });

    const after = takeLease(before, me(), wallMs);

    expect(["b", "c", "me", "d"].map((holder) => isWaiting(after, holder))).toEqual([false, false, false, true]);
  });
});

describe("a Lease that is created", () => {
  it("carries the name, the labels to watch it by and its first holder", () => {
    const first = newLease("gw-lock-x", "locks", me(), wallMs);

    expect(first.metadata).toMatchObject({ name: "gw-lock-x", namespace: "locks", labels: lockLabels });
    expect(first.spec).toMatchObject({ holderIdentity: "me", leaseTransitions: 1 });
  });
});

describe("a Lease that is handed over", () => {
  it("goes to the first waiter, which has five seconds to confirm", () => {
    const after = handOverLease(lease({ waiters: "b,c", transitions: 7 }), wallMs);

    expect(after.spec).toMatchObject({ holderIdentity: "b", leaseDurationSeconds: 5, leaseTransitions: 8 });
    expect([isWaiting(after, "b"), isWaiting(after, "c")]).toEqual([false, true]);
  });

  it("is free without waiters, and keeps nothing of its holder", () => {
    const after = handOverLease(takeLease(lease(), me(), wallMs), wallMs);

    expect(after.spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    expect(after.metadata.annotations).toEqual({ "kubernaut.ai/key": key, "kubernaut.ai/waiters": "" });
    expect(describeHolder(after)).toBeUndefined();
  });
});

describe("the line of a Lease", () => {
  it("is joined at its end and left from anywhere, and its holder does not seem to move", () => {
    const before = lease({ waiters: "b,c" });

    const longer = addWaiter(before, "me");
    const shorter = removeWaiter(longer, "b");

    expect(longer.metadata.annotations?.["kubernaut.ai/waiters"]).toBe("b,c,me");
    expect(shorter.metadata.annotations?.["kubernaut.ai/waiters"]).toBe("c,me");
    expect(sameHolding(before, shorter)).toBe(true);
  });
});

describe("the holder of a Lease", () => {
  it("is described for people", () => {
    expect(describeHolder(takeLease(lease(), me(), wallMs))).toEqual({
      id: "me",
      who: "gateway/pod-1/1",
      sinceMs: wallMs,
      purpose: "a test",
    });
  });

  it("is described as far as it is known", () => {
    const bare: KubeLease = { metadata: { name: "x" }, spec: { holderIdentity: "b" } };

    expect(describeHolder(bare)).toEqual({ id: "b", who: "unknown", sinceMs: undefined, purpose: undefined });
    expect(periodOf(bare)).toBe(30_000);
  });

  it.each([
    ["another holder", lease({ holder: "c" })],
    ["a renewal", lease({ renewTime: "2023-11-14T22:13:21.000000Z" })],
    ["another term of the same holder", lease({ transitions: 2 })],
    ["another object of that name", lease({ uid: "other" })],
  ])("has shown a sign of life by %s", (_sign, changed) => {
    expect(sameHolding(lease(), changed)).toBe(false);
  });
});

const wallMs = Date.parse("2023-11-14T22:13:20Z");

interface LeaseFields {
  readonly holder?: string;
  readonly waiters?: string;
  readonly key?: string | undefined;
  readonly durationSeconds?: number | undefined;
  readonly renewTime?: string;
  readonly transitions?: number;
  readonly uid?: string;
}

/** A Lease held by b for 10 s by default. */
function lease(fields: LeaseFields = {}): KubeLease {
  const {
    holder = "b",
    waiters = "",
    renewTime = "2023-11-14T22:13:19.000000Z",
    transitions = 1,
    uid = "uid",
  } = fields;
  const annotatedKey = "key" in fields ? fields.key : key;
  const durationSeconds = "durationSeconds" in fields ? fields.durationSeconds : 10;
  return {
    metadata: {
      name: "test-lock-x",
      namespace: "locks",
      uid,
      resourceVersion: "5",
      annotations: { ...(annotatedKey && { "kubernaut.ai/key": annotatedKey }), "kubernaut.ai/waiters": waiters },
    },
    spec: {
      holderIdentity: holder,
      ...(durationSeconds && { leaseDurationSeconds: durationSeconds }),
      renewTime,
      leaseTransitions: transitions,
    },
  };
}

function me(changed: Partial<Claimant> = {}): Claimant {
  return { key, holder: "me", who: "gateway/pod-1/1", purpose: "a test", ttlMs: 10_000, wait: true, ...changed };
}

function names(count: number): string {
  return Array.from({ length: count }, (_, i) => `w${i}`).join(",");
}
