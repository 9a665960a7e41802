import { describe, expect, it } from "vitest";
import { type IgnoredSignal, IgnoredSignals } from "./ignored-signals.ts";

const minute = 60_000;

describe("a signal without effect", () => {
  it("is recorded once per sender, reason and fingerprint in a window; the next row counts the repeats", () => {
    const ignored = open();

    const decisions = [0, 1, 2, 10, 11].map((minutes) => ignored.decide(signal(), minutes * minute));

    expect(decisions).toEqual([
      { do: "record", collapsed: 0 },
      { do: "count" },
      { do: "count" },
      { do: "record", collapsed: 2 },
      { do: "count" },
    ]);
  });

  it.each<[string, Partial<IgnoredSignal>]>([
    ["sender", { sender: "other" }],
    ["source", { source: "grafana" }],
    ["fingerprint", { fingerprint: "v1:b" }],
    ["reason", { because: "it names no object" }],
  ])("is recorded by itself if it has another %s", (_what, other) => {
    const ignored = open();
    ignored.decide(signal(), 0);

    expect(ignored.decide(signal(other), 0)).toEqual({ do: "record", collapsed: 0 });
  });

  it("whose row was not stored is recorded when it is sent again", () => {
    const ignored = open();
    ignored.decide(signal(), 0);

    ignored.forget(signal());

    expect(ignored.decide(signal(), 0)).toEqual({ do: "record", collapsed: 0 });
  });

  it("has the same reason if only the times in it differ", () => {
    const ignored = open();
    ignored.decide(signal({ because: "it had ended at 2026-11-15T06:00:00.000Z" }), 0);

    expect(ignored.decide(signal({ because: "it had ended at 2026-11-15T06:00:01.000Z" }), 0)).toEqual({ do: "count" });
  });

  it("with ever new fingerprints is recorded a limited number of times per sender and window", () => {
    const ignored = open();
    const flood = (nowMs: number, sender: string) =>
      Array.from({ length: 1_000 }, (_, i) =>
        ignored.decide(signal({ fingerprint: `v1:${nowMs}-${i}`, sender }), nowMs),
      );

    const [first, other, later] = [flood(0, "a"), flood(0, "b"), flood(20 * minute, "a")];

    for (const decisions of [first, other, later]) {
      expect(decisions.filter((one) => one.do === "record")).toHaveLength(5);
      expect(decisions.filter((one) => one.do === "record-overflow")).toHaveLength(1);
    }
  });
});

function open(): IgnoredSignals {
  return new IgnoredSignals({ windowMs: 10 * minute, maxRowsPerSender: 5, maxEntries: 100 });
}

function signal(other: Partial<IgnoredSignal> = {}): IgnoredSignal {
  return {
    source: "generic",
    sender: "script",
    fingerprint: "v1:a",
    because: "its incident is closed already",
    ...other,
  };
}
