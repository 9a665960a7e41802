import { describe, expect, it } from "vitest";
import type { Metrics } from "./metrics.ts";
import { promMetrics } from "./prom-metrics.ts";

describe("a counter", () => {
  it("counts by one, or by the given amount", async () => {
    const metrics = promMetrics();
    const counter = metrics.counter({ name: "gateway_signals_total", help: "Signals received." });

    counter.inc();
    counter.inc(2.5);

    expect(await metrics.text()).toBe(
      "# HELP gateway_signals_total Signals received.\n# TYPE gateway_signals_total counter\ngateway_signals_total 3.5\n",
    );
  });

  it("counts each combination of label values apart, and shows all of them from the start", async () => {
    const metrics = promMetrics();
    const failures = failureCounter(metrics);

    failures.with({ reason: "timeout", stage: "ro" }).inc();
    failures.with({ stage: "ro", reason: "timeout" }).inc();

    expect(await series(metrics)).toEqual([
      'lock_failures_total{reason="contention",stage="gateway"} 0',
      'lock_failures_total{reason="contention",stage="ro"} 0',
      'lock_failures_total{reason="timeout",stage="gateway"} 0',
      'lock_failures_total{reason="timeout",stage="ro"} 2',
    ]);
  });

  it("has one series per combination, to be looked up once and kept", () => {
    const failures = failureCounter(promMetrics());

    const once = failures.with({ reason: "timeout", stage: "ro" });
    const again = failures.with({ reason: "timeout", stage: "ro" });

    expect(again).toBe(once);
  });

  it("refuses label values that were not declared, when compiling and when running", () => {
    const failures = failureCounter(promMetrics());

    // @ts-expect-error "weather" is not a declared reason
    expect(() => failures.with({ reason: "weather", stage: "ro" })).toThrow(TypeError);
    // @ts-expect-error the stage is missing
    expect(() => failures.with({ reason: "timeout" })).toThrow(TypeError);
    // @ts-expect-error there is no label called key
    expect(() => failures.with({ reason: "timeout", stage: "ro", key: "a" })).toThrow(TypeError);
    // @ts-expect-error a counter with labels is not counted without them
    expect(failures.inc).toBeUndefined();
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("cannot count by %d", (by) => {
    const counter = promMetrics().counter({ name: "gateway_signals_total", help: "Signals received." });

    expect(() => counter.inc(by)).toThrow(TypeError);
  });
});

describe("rows", () => {
  it("are looked up at each reading, and gone when they are gone", async () => {
    const metrics = promMetrics();
    const failures = new Map([
      ["cleanup", 2],
      ["restart", 0],
    ]);
    metrics.rows({ name: "failures_in_a_row", help: "Failures.", label: "workflow_id", read: () => failures });

    const before = await series(metrics);
    failures.delete("cleanup");
    const after = await series(metrics);

    expect(before).toEqual([
      'failures_in_a_row{workflow_id="cleanup"} 2',
      'failures_in_a_row{workflow_id="restart"} 0',
    ]);
    expect(after).toEqual(['failures_in_a_row{workflow_id="restart"} 0']);
  });
});

describe("a gauge", () => {
  it("shows the value of the last set", async () => {
    const metrics = promMetrics();
    const gauge = metrics.gauge({ name: "locks_held", help: "Locks held now." });

    gauge.set(3);
    gauge.set(2);

    expect(await series(metrics)).toEqual(["locks_held 2"]);
  });

  it("may look its value up each time the metrics are read", async () => {
    const metrics = promMetrics();
    const load = { held: 1, waiting: 0 };
    metrics.gauge({ name: "locks_held", help: "Locks held now.", collect: (gauge) => gauge.set(load.held) });
    metrics.gauge({
      name: "lock_callers",
      help: "Callers by what they do.",
      labels: { doing: ["holding", "waiting"] },
      collect(gauge) {
        gauge.with({ doing: "holding" }).set(load.held);
        gauge.with({ doing: "waiting" }).set(load.waiting);
      },
    });

    const before = await series(metrics);
    load.held = 7;
    const after = await series(metrics);

    expect(before).toEqual(["locks_held 1", 'lock_callers{doing="holding"} 1', 'lock_callers{doing="waiting"} 0']);
    expect(after).toEqual(["locks_held 7", 'lock_callers{doing="holding"} 7', 'lock_callers{doing="waiting"} 0']);
  });
});

describe("a histogram", () => {
  it("sorts observations into its buckets", async () => {
    const metrics = promMetrics();
    const waits = metrics.histogram({
      name: "lock_wait_seconds",
      help: "Time waited.",
      buckets: [0.1, 1],
      labels: { stage: ["ro"] },
    });

    const wait = waits.with({ stage: "ro" });
    wait.observe(0.1);
    wait.observe(0.5);
    wait.observe(5);

    expect(await series(metrics)).toEqual([
      'lock_wait_seconds_bucket{le="0.1",stage="ro"} 1',
      'lock_wait_seconds_bucket{le="1",stage="ro"} 2',
      'lock_wait_seconds_bucket{le="+Inf",stage="ro"} 3',
      'lock_wait_seconds_sum{stage="ro"} 5.6',
      'lock_wait_seconds_count{stage="ro"} 3',
    ]);
  });
});

describe("a declaration", () => {
  const help = "Some help.";

  it.each<[string, (metrics: Metrics) => unknown]>([
    ["has an upper-case name", (m) => m.counter({ name: "Signals_seen_total", help })],
    ["has a name of one word", (m) => m.gauge({ name: "locks", help })],
    // @ts-expect-error the compiler sees this one too
    ["is a counter without _total", (m) => m.counter({ name: "signals_seen", help })],
    ["is a gauge with _total", (m) => m.gauge({ name: "locks_total", help })],
    ["takes a name that histograms use", (m) => m.gauge({ name: "lock_wait_sum", help })],
    ["has no help", (m) => m.gauge({ name: "locks_held", help: " " })],
    ["has a label called le", (m) => m.gauge({ name: "locks_held", help, labels: { le: ["a"] } })],
    ["has a label without values", (m) => m.gauge({ name: "locks_held", help, labels: { stage: [] } })],
    ["has a label value twice", (m) => m.gauge({ name: "locks_held", help, labels: { stage: ["ro", "ro"] } })],
    ["has a label value with spaces", (m) => m.gauge({ name: "locks_held", help, labels: { stage: ["r o"] } })],
    ["has too many series", (m) => m.gauge({ name: "locks_held", help, labels: { a: words(50), b: words(50) } })],
    ["has no buckets", (m) => m.histogram({ name: "lock_wait_seconds", help, buckets: [] })],
    ["has buckets in disorder", (m) => m.histogram({ name: "lock_wait_seconds", help, buckets: [1, 0.1] })],
    ["takes a name that is taken", (m) => [1, 2].map(() => m.gauge({ name: "locks_held", help }))],
  ])("is refused when it %s", (_what, declare) => {
    expect(() => declare(promMetrics())).toThrow(TypeError);
  });

  it("does not reach another set of metrics", async () => {
    const [one, other] = [promMetrics(), promMetrics()];

    one.gauge({ name: "locks_held", help });

    expect(await series(one)).toEqual(["locks_held 0"]);
    expect(await series(other)).toEqual([]);
  });
});

function failureCounter(metrics: Metrics) {
  return metrics.counter({
    name: "lock_failures_total",
    help: "Locks that were not acquired.",
    labels: { reason: ["contention", "timeout"], stage: ["gateway", "ro"] },
  });
}

async function series(metrics: { text(): Promise<string> }): Promise<string[]> {
  return (await metrics.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

function words(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `w${i}`);
}
