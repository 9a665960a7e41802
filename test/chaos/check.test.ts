import { describe, expect, it } from "vitest";
import { violationsIn } from "./check.ts";
import type { Fault, HistoryEvent } from "./history.ts";

describe("a history in which leases follow one another", () => {
  it("has no violations", () => {
    const history = [
      ...lease("a", { from: 0, until: 100, fence: 1, effects: [50] }),
      ...lease("b", { from: 100, until: 200, fence: 2, effects: [150] }),
    ];

    expect(rulesBrokenIn(history)).toEqual([]);
  });
});

describe("exclusion is broken", () => {
  it("when a lease is granted before the last holder lets go", () => {
    const history = [
      ...lease("a", { from: 0, until: 101, fence: 1 }),
      ...lease("b", { from: 100, until: 200, fence: 2 }),
    ];

    expect(rulesBrokenIn(history)).toContain("exclusion");
  });

  it("when a holder was extended in the meantime", () => {
    const history = [
      ...lease("a", { from: 0, fence: 1, endsAt: 90 }),
      { at: 50, event: "extended", ...about("a"), endsAt: 150 } as const,
      { at: 160, event: "lost", ...about("a"), closed: false, why: "" } as const,
      ...lease("b", { from: 140, until: 200, fence: 2 }),
    ];

    expect(rulesBrokenIn(history)).toContain("exclusion");
  });

  it("but not by a holder whose lease is over by its own clock", () => {
    const history = [
      ...lease("a", { from: 0, fence: 1, endsAt: 90 }),
      { at: 120, event: "stalled", worker: "worker of a", from: 10 } as const,
      { at: 121, event: "lost", ...about("a"), closed: false, why: "" } as const,
      ...lease("b", { from: 100, until: 200, fence: 2 }),
    ];

    expect(rulesBrokenIn(history)).toEqual([]);
  });

  it("but not by a holder that is dead", () => {
    const history = [
      ...lease("a", { from: 0, fence: 1, endsAt: 900 }),
      fault(50, "holder killed", { worker: "worker of a" }),
      ...lease("b", { from: 100, until: 200, fence: 2 }),
    ];

    expect(rulesBrokenIn(history)).toEqual([]);
  });

  it.each([
    [1_300, []],
    [1_600, ["exclusion", "notice"]],
  ])(
    "by a holder that is notified %i ms after its lock was deleted, a third of the ttl being 1000 ms: %j",
    (notifiedMs, rules) => {
      const history = [
        ...lease("a", { from: 0, fence: 1, endsAt: 3_000 }),
        fault(200, "lock deleted", { key: "key" }),
        { at: notifiedMs, event: "lost", ...about("a"), closed: false, why: "" } as const,
        ...lease("b", { from: 201, until: 5_000, fence: 2, endsAt: 9_000 }),
      ];

      expect(rulesBrokenIn(history)).toEqual(rules);
    },
  );
});

describe("the fence order is broken", () => {
  it.each([1, 0])("when the fence after 1 is %i", (fence) => {
    const history = [...lease("a", { from: 0, until: 1, fence: 1 }), ...lease("b", { from: 2, until: 3, fence })];

    expect(rulesBrokenIn(history)).toEqual(["fence order"]);
  });
});

describe("the fence order holds", () => {
  it("when a grant was overtaken because its lock was deleted before the answer came", () => {
    const history = [
      fault(0, "lock deleted", { key: "key" }),
      ...lease("b", { from: 10, until: 20, fence: 2 }),
      ...lease("a", { from: 30, until: 40, fence: 1 }),
    ];

    expect(rulesBrokenIn(history)).toEqual([]);
  });
});

describe("notice is broken", () => {
  it("when the signal comes after the next grant although the process ran", () => {
    const history = [
      ...lease("a", { from: 0, fence: 1, endsAt: 90 }),
      { at: 130, event: "lost", ...about("a"), closed: false, why: "" } as const,
      ...lease("b", { from: 100, until: 200, fence: 2 }),
    ];

    expect(rulesBrokenIn(history)).toEqual(["notice"]);
  });

  it("when the process was stopped, but ran again long before the signal", () => {
    const history = [
      ...lease("a", { from: 0, fence: 1, endsAt: 90 }),
      { at: 120, event: "stalled", worker: "worker of a", from: 10 } as const,
      { at: 160, event: "lost", ...about("a"), closed: false, why: "" } as const,
      ...lease("b", { from: 100, until: 200, fence: 2 }),
    ];

    expect(rulesBrokenIn(history)).toEqual(["notice"]);
  });

  it("when the holder is never notified of the end", () => {
    expect(rulesBrokenIn(lease("a", { from: 0, fence: 1, endsAt: 90 }))).toEqual(["notice"]);
  });
});

describe("the witness is broken", () => {
  it("when it accepts an effect after one of a later lease", () => {
    const history = [
      ...lease("a", { from: 0, until: 10, fence: 1, effects: [5, 25] }),
      ...lease("b", { from: 11, until: 30, fence: 2, effects: [20] }),
    ];

    expect(rulesBrokenIn(history)).toEqual(["witness"]);
  });

  it("also when fences that are no fences allow it", () => {
    const history = [
      ...lease("a", { from: 0, until: 10, fence: 0, effects: [5, 25] }),
      ...lease("b", { from: 11, until: 30, fence: 0, effects: [20] }),
    ];

    expect(rulesBrokenIn(history)).toContain("witness");
  });

  it("but not when it refuses that effect", () => {
    const history = [
      ...lease("a", { from: 0, until: 10, fence: 1, effects: [5] }),
      ...lease("b", { from: 11, until: 30, fence: 2, effects: [20] }),
      { at: 25, event: "effect", ...about("a"), fence: "1", accepted: false } as const,
    ];

    expect(rulesBrokenIn(history)).toEqual([]);
  });
});

describe("a lease is born dead", () => {
  it("when it ends before it is handed out", () => {
    expect(rulesBrokenIn(lease("a", { from: 90, until: 91, fence: 1, endsAt: 9 }))).toEqual(["born dead"]);
  });
});

describe("a lease is not born dead", () => {
  it("when the process was stopped while it was handed out", () => {
    const history = [
      ...lease("a", { from: 90, until: 91, fence: 1, endsAt: 9 }),
      { at: 92, event: "stalled", worker: "worker of a", from: 8 } as const,
    ];

    expect(rulesBrokenIn(history)).toEqual([]);
  });
});

describe("the outcome of a release is wrong", () => {
  it.each<[reported: "released" | "lost" | "unknown", why: string, history: HistoryEvent[]]>([
    ["lost", "nothing happened to the lease", []],
    ["unknown", "there was time left to ask again", []],
    [
      "released",
      "another worker was granted the key before",
      [
        { at: 120, event: "stalled", worker: "worker of a", from: 10 },
        ...lease("b", { from: 95, until: 200, fence: 2 }),
      ],
    ],
  ])("when it reports %s although %s", (reported, _why, others) => {
    const history = [
      ...lease("a", { from: 0, until: 100, fence: 1, endsAt: others.length > 0 ? 90 : 900, reported }),
      ...others,
    ];

    expect(rulesBrokenIn(history)).toEqual(["outcome"]);
  });

  it.each<[reported: "lost" | "unknown", why: string, endsAt: number, history: HistoryEvent[]]>([
    ["lost", "the lease had ended", 90, []],
    ["unknown", "the lease had ended", 90, []],
    ["lost", "the server had been restarted", 900, [fault(50, "server restarted", {}), healed(60, "server restarted")]],
    ["lost", "the lock had been deleted", 900, [fault(50, "lock deleted", { key: "key" })]],
  ])("but not when it reports %s and %s", (reported, _why, endsAt, others) => {
    const history = [...lease("a", { from: 0, until: 100, fence: 1, endsAt, reported }), ...others];

    expect(rulesBrokenIn(history)).toEqual([]);
  });

  it("but not when it returns released because the process had closed its locks before", () => {
    const history = [
      ...lease("a", { from: 0, until: 100, fence: 1 }),
      { at: 80, event: "lost", ...about("a"), closed: true, why: "" } as const,
      ...lease("b", { from: 90, until: 200, fence: 2 }),
    ];

    expect(rulesBrokenIn(history)).toEqual([]);
  });

  it("when there is none", () => {
    const history = [
      ...lease("a", { from: 0, fence: 1, endsAt: 90 }),
      { at: 50, event: "releasing", ...about("a") } as const,
    ];

    expect(rulesBrokenIn(history)).toEqual(["outcome"]);
  });
});

describe("quarantine is broken", () => {
  const restart = [fault(100, "server restarted", { forgotMs: 3_000 }), healed(150, "server restarted")];

  it("when a server grants before the leases that it forgot have ended", () => {
    expect(rulesBrokenIn([...restart, ...lease("a", { from: 2_200, until: 2_300, fence: 1 })])).toEqual(["quarantine"]);
  });

  it("but not after", () => {
    expect(rulesBrokenIn([...restart, ...lease("a", { from: 3_100, until: 3_200, fence: 1 })])).toEqual([]);
  });

  it("when a holder loses its lease to a restart that was over at once", () => {
    const history = [
      ...lease("a", { from: 0, fence: 1, endsAt: 2_000 }),
      ...restart,
      { at: 500, event: "lost", ...about("a"), closed: false, why: "" } as const,
    ];

    expect(rulesBrokenIn(history)).toEqual(["quarantine"]);
  });
});

interface LeaseOptions {
  readonly from: number;
  /** When it is released; undefined: never. */
  readonly until?: number;
  readonly fence: number;
  readonly endsAt?: number;
  readonly effects?: readonly number[];
  readonly reported?: "released" | "lost" | "unknown";
}

function lease(
  name: string,
  { from, until, fence, endsAt = 10_000, effects = [], reported = "released" }: LeaseOptions,
) {
  const granted = { at: from, event: "granted", ...about(name), fence: `${fence}`, ttlMs: 3_000, endsAt } as const;
  const history: HistoryEvent[] = [granted];
  for (const at of effects) history.push({ at, event: "effect", ...about(name), fence: `${fence}`, accepted: true });
  if (until === undefined) return history;
  history.push({ at: until, event: "releasing", ...about(name) });
  history.push({ at: until + 0.5, event: "released", ...about(name), outcome: reported });
  return history;
}

function about(name: string) {
  return { worker: `worker of ${name}`, lease: `${name}/1`, key: "key" };
}

function fault(at: number, what: Fault, more: { worker?: string; key?: string; forgotMs?: number }): HistoryEvent {
  return { at, event: "fault", fault: what, ...more };
}

function healed(at: number, what: Fault): HistoryEvent {
  return { at, event: "healed", fault: what };
}

function rulesBrokenIn(history: readonly HistoryEvent[]): string[] {
  return violationsIn([...history].sort((a, b) => a.at - b.at)).map(({ rule }) => rule);
}
