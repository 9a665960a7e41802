import { describe, expect, it } from "vitest";
import {
  type FiringSeries,
  type FirstSignal,
  incidentName,
  type RemediationRequest,
  type Signal,
} from "../resources/index.ts";
import { type Count, decideFiring, maxSeries, seriesKey, withCount, withEnd } from "./decide.ts";
import type { Report } from "./identity/report.ts";

const [six, seven, eight] = [
  "2026-11-15T06:00:00.000Z",
  "2026-11-15T07:00:00.000Z",
  "2026-11-15T08:00:00.000Z",
] as const;
const a = seriesKey({ series: "a" });
const b = seriesKey({ series: "b" });
const first: FirstSignal = { severity: "warning", signalLabels: { node: "n1" }, subject: "payment/pod/api-1" };

describe("a signal that fires", () => {
  it.each<[string, RemediationRequest | undefined, object]>([
    ["opens the first incident", undefined, { do: "open", n: 1 }],
    ["opens the next when the last is closed", incident(7, { phase: "Completed" }), { do: "open", n: 8 }],
    ["opens the next when the last was withdrawn", incident(1, { phase: "Withdrawn" }), { do: "open", n: 2 }],
    ["is counted before the incident was processed", incident(1), { do: "count" }],
    ["is counted while the incident is blocked", incident(2, { phase: "Blocked" }), { do: "count" }],
    ["is counted if it began after its last end", incident(1, { phase: "Pending", ended: six }), { do: "count" }],
    [
      "opens the next if it began after its last end",
      incident(1, { phase: "Completed", ended: six }),
      { do: "open", n: 2 },
    ],
    ["is ignored if it began before its last end", incident(1, { phase: "Completed", ended: eight }), { do: "ignore" }],
    ["is ignored if it began just at its last end", incident(1, { phase: "Pending", ended: seven }), { do: "ignore" }],
    [
      "opens number 1 after an incident with a name of another form",
      incident("by-hand", { phase: "Failed" }),
      { do: "open", n: 1 },
    ],
  ])("%s", (_what, newest, decision) => {
    expect(decideFiring(newest, report())).toMatchObject(decision);
  });
});

describe("a signal that fires after several incidents", () => {
  it("opens nothing if its series ended in an earlier one, and the newest was opened by another", () => {
    const earlier = { [a]: { firingAt: six, resolvedAt: seven } };
    const newest = {
      metadata: { name: incidentName("f", 2) },
      status: { phase: "Completed" },
    } as unknown as RemediationRequest;
    const late = { fingerprint: "f", signal: { series: "a", firingAt: six } } as unknown as Report;
    const later = { fingerprint: "f", signal: { series: "a", firingAt: eight } } as unknown as Report;

    expect(decideFiring(newest, late, [earlier])).toMatchObject({ do: "ignore" });
    expect(decideFiring(newest, later, [earlier])).toEqual({ do: "open", n: 3 });
  });
});

describe("an occurrence that is reported again", () => {
  it.each([
    ["is ignored while its incident is open", "Pending", seven, { do: "ignore" }],
    ["is ignored after its incident was closed", "Completed", seven, { do: "ignore" }],
    ["is ignored if a later one was reported before", "Completed", six, { do: "ignore" }],
    ["is counted if it happened later", "Pending", eight, { do: "count" }],
    ["opens the next incident if it happened later", "Completed", eight, { do: "open", n: 2 }],
  ])("%s", (_what, phase, firingAt, decision) => {
    const newest = {
      metadata: { name: incidentName("f", 1) },
      status: { phase, deduplication: { series: { [a]: { firingAt: seven } } } },
    } as unknown as RemediationRequest;
    const again = { fingerprint: "f", signal: { series: "a", firingAt, isOccurrence: true } } as unknown as Report;

    expect(decideFiring(newest, again)).toMatchObject(decision);
  });
});

describe("the count in a status", () => {
  it("is the sum of what each gateway has counted", () => {
    const one = afterCount(undefined, count({ writer: "gw-1", count: 3 }));
    const both = afterCount(one, count({ writer: "gw-2", count: 4, firstSeenAt: six, lastSeenAt: eight }));

    expect(both.deduplication).toMatchObject({
      firstSeenAt: six,
      lastSeenAt: eight,
      occurrenceCount: 7,
      occurrencesByWriter: { "gw-1": 3, "gw-2": 4 },
    });
  });

  it("does not change when it is written again or late", () => {
    const once = afterCount(undefined, count({ count: 3 }));

    expect(afterCount(once, count({ count: 3 }))).toEqual(once);
    expect(afterCount(once, count({ count: 2 }))).toEqual(once);
  });

  it("removes the end when a series fires again", () => {
    const over = afterEnd(afterCount(undefined, count({ firing: [[a, six]] })), ended("a", seven), seven);

    expect(over.resolvedAt).toBe(seven);
    expect(afterCount(over, count({ firing: [[a, six]] })).resolvedAt).toBe(seven);
    expect(afterCount(over, count({ firing: [[a, eight]] })).resolvedAt).toBeUndefined();
    expect(afterCount(over, count({ firing: [[b, six]] })).resolvedAt).toBeUndefined();
  });

  it("distinguishes a bounded number of series, and drops ended ones first", () => {
    const many = Array.from({ length: maxSeries }, (_, i) => [`s${i}`, six] as const);
    const full = afterCount(undefined, count({ firing: many }));
    const oneOver = {
      ...full,
      deduplication: {
        ...full.deduplication,
        series: { ...full.deduplication.series, s5: { firingAt: six, resolvedAt: seven } },
      },
    };

    expect(afterCount(full, count({ firing: [[a, six]] })).deduplication.series).not.toHaveProperty(a);
    const { series = {} } = afterCount(oneOver, count({ firing: [[a, six]] })).deduplication;
    expect(Object.keys(series)).toHaveLength(maxSeries);
    expect(series).toHaveProperty(a);
    expect(series).not.toHaveProperty("s5");
  });
});

describe("the series in a status", () => {
  const critical = { severity: "critical", labels: { condition: "DiskPressure" } };

  it("store only the differences from the first signal", () => {
    const { series } = afterCount(
      undefined,
      count({
        firing: [
          [a, six],
          [b, six, critical],
        ],
      }),
    ).deduplication;

    expect(series).toEqual({
      [a]: { firingAt: six },
      [b]: { firingAt: six, severity: "critical", labels: { condition: "DiskPressure" }, withoutLabels: ["node"] },
    });
  });

  it("give the incident the highest severity of the firing series", () => {
    const one = afterCount(undefined, count({ firing: [[a, six]] }));
    const both = afterCount(one, count({ firing: [[b, six, critical]] }));
    const ended1 = afterEnd(both, ended("b", seven), seven);

    expect([one, both, ended1].map(({ deduplication }) => deduplication.severity)).toEqual([
      "warning",
      "critical",
      "warning",
    ]);
  });

  it("follow a series whose severity changes", () => {
    const before = afterCount(undefined, count({ firing: [[a, six]] }));

    expect(afterCount(before, count({ firing: [[a, six, { severity: "critical" }]] })).deduplication.severity).toBe(
      "critical",
    );
  });

  it("are listed up to a limit, with a note; a more severe one replaces a less severe one", () => {
    const many = Array.from({ length: maxSeries }, (_, i) => [`s${i}`, six] as const);
    const full = afterCount(undefined, count({ firing: many }));
    const more = afterCount(full, count({ firing: [[a, six]] })).deduplication;
    const worse = afterCount(full, count({ firing: [[b, six, critical]] })).deduplication;

    expect(full.deduplication).not.toHaveProperty("hasMoreSeries");
    expect(more).toMatchObject({ hasMoreSeries: true, severity: "warning" });
    expect(worse).toMatchObject({ hasMoreSeries: true, severity: "critical" });
    expect(Object.keys(worse.series ?? {})).toHaveLength(maxSeries);
    expect(worse.series).toHaveProperty(b);
  });

  it("name their object if it differs from that of the first signal", () => {
    const firing = [
      [a, six, { subject: "payment/pod/api-1" }],
      [b, six, { subject: "payment/pod/api-2" }],
    ] as const;

    expect(afterCount(undefined, count({ firing })).deduplication.series).toEqual({
      [a]: { firingAt: six },
      [b]: { firingAt: six, subject: "payment/pod/api-2" },
    });
  });

  it("omit labels that are too large to be stored 64 times", () => {
    const large = { labels: { node: "n1", text: "x".repeat(5_000) } };

    expect(afterCount(undefined, count({ firing: [[a, six, large]] })).deduplication.series).toEqual({
      [a]: { firingAt: six, isTooLarge: true },
    });
  });
});

describe("the end of a series", () => {
  it("ends the incident if it was the last", () => {
    const both = afterCount(
      undefined,
      count({
        firing: [
          [a, six],
          [b, six],
        ],
      }),
    );

    const one = afterEnd(both, ended("a", seven), seven);
    const none = afterEnd(one, ended("b", eight), eight);

    expect(one.resolvedAt).toBeUndefined();
    expect(none.resolvedAt).toBe(eight);
    expect(none.deduplication.occurrenceCount).toBe(both.deduplication.occurrenceCount);
  });

  it("ends an incident without a recorded series", () => {
    expect(afterEnd(undefined, ended("a", seven), eight)).toMatchObject({ resolvedAt: seven });
  });

  it("that arrives late does not end a later firing", () => {
    const again = afterCount(undefined, count({ firing: [[a, eight]] }));

    expect(afterEnd(again, ended("a", seven), eight).resolvedAt).toBeUndefined();
  });

  it("is the latest of several, in any order of arrival", () => {
    const later = afterEnd(afterEnd(undefined, ended("a", eight), eight), ended("a", seven), eight);

    expect(later.deduplication.series?.[a]?.resolvedAt).toBe(eight);
    expect(later.resolvedAt).toBe(eight);
  });
});

function report(): Report {
  const signal = { series: "a", firingAt: seven } as Signal;
  const owner = { target: "node/a", reference: { kind: "Node", name: "a" } };
  return { signal, fingerprint: "v1:x", subject: "node/a", owner, receivedAt: seven };
}

function incident(n: number | string, { phase, ended }: { phase?: string; ended?: string } = {}): RemediationRequest {
  const name = typeof n === "string" ? n : incidentName("v1:x", n);
  const deduplication = { series: ended ? { [a]: { firingAt: six, resolvedAt: ended } } : {} };
  const status = phase ? { status: { phase, deduplication } } : {};
  return {
    metadata: { name, uid: "u" },
    spec: { signalFingerprint: "v1:x" },
    ...status,
  } as unknown as RemediationRequest;
}

function count({
  firing = [],
  ...change
}: Partial<Omit<Count, "firing">> & { firing?: readonly Firing[] } = {}): Count {
  return { writer: "gw-1", count: 1, firstSeenAt: seven, lastSeenAt: seven, firing: toFiring(firing), ...change };
}

type Firing = readonly [key: string, firingAt: string, described?: Partial<FiringSeries>];

function toFiring(firing: readonly Firing[]): Count["firing"] {
  const { severity, signalLabels: labels = {} } = first;
  return new Map(
    firing.map(([key, firingAt, described]) => [
      key,
      { firingAt, severity, subject: first.subject, labels, annotations: {}, ...described } as FiringSeries,
    ]),
  );
}

function afterCount(before: Parameters<typeof withCount>[0], counted: Count) {
  return withCount(before, counted, first);
}

function afterEnd(before: Parameters<typeof withEnd>[0], signal: Signal, nowAt: string) {
  return withEnd(before, signal, nowAt, first);
}

function ended(series: string, endedAt: string): Signal {
  return { series, firingAt: six, endedAt } as Signal;
}
