import { describe, expect, it } from "vitest";
import type { Metrics } from "./metrics.ts";
import { promMetrics } from "./prom-metrics.ts";

describe("a counter", () => {
  it("counts by one, or by the given amount", async () => {
    const metrics = promMetrics();
    const counter = metrics.counter("gateway_signals_total", "Signals received.");

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
    const counter = promMetrics().counter("gateway_signals_total", "Signals received.");

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
    metrics.rows("failures_in_a_row", "Failures.", { label: "workflow_id", read: () => failures });

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
  it("is read at each scrape, for each combination of label values", async () => {
    const metrics = promMetrics();
    const load = { held: 1, waiting: 0 };
    metrics.gauge("locks_held", "Locks held now.", () => load.held);
    metrics.gauge("lock_callers", "Callers by state.", ({ state }) => load[state], { state: ["held", "waiting"] });

    const before = await series(metrics);
    load.held = 7;
    const after = await series(metrics);

    expect(before).toEqual(["locks_held 1", 'lock_callers{state="held"} 1', 'lock_callers{state="waiting"} 0']);
    expect(after).toEqual(["locks_held 7", 'lock_callers{state="held"} 7', 'lock_callers{state="waiting"} 0']);
  });
});

describe("a histogram", () => {
  it("sorts observations into its buckets", async () => {
    const metrics = promMetrics();
    const waits = metrics.histogram("lock_wait_seconds", "Time waited.", [0.1, 1], { stage: ["ro"] });

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
  const zero = () => 0;

  it.each<[string, (metrics: Metrics) => unknown]>([
    ["has an upper-case name", (m) => m.counter("Signals_seen_total", help)],
    ["has a name of one word", (m) => m.gauge("locks", help, zero)],
    // @ts-expect-error the compiler sees this one too
    ["is a counter without _total", (m) => m.counter("signals_seen", help)],
    ["is a gauge with _total", (m) => m.gauge("locks_total", help, zero)],
    ["takes a name that histograms use", (m) => m.gauge("lock_wait_sum", help, zero)],
    ["has no help", (m) => m.gauge("locks_held", " ", zero)],
    ["has a label called le", (m) => m.gauge("locks_held", help, zero, { le: ["a"] })],
    ["has a label without values", (m) => m.gauge("locks_held", help, zero, { stage: [] })],
    ["has a label value twice", (m) => m.gauge("locks_held", help, zero, { stage: ["ro", "ro"] })],
    ["has a label value with spaces", (m) => m.gauge("locks_held", help, zero, { stage: ["r o"] })],
    ["has too many series", (m) => m.gauge("locks_held", help, zero, { a: words(50), b: words(50) })],
    ["has no buckets", (m) => m.histogram("lock_wait_seconds", help, [])],
    ["has buckets in disorder", (m) => m.histogram("lock_wait_seconds", help, [1, 0.1])],
    ["takes a name that is taken", (m) => [1, 2].map(() => m.gauge("locks_held", help, zero))],
  ])("is refused when it %s", (_what, declare) => {
    expect(() => declare(promMetrics())).toThrow(TypeError);
  });

  it("does not reach another set of metrics", async () => {
    const [one, other] = [promMetrics(), promMetrics()];

    one.gauge("locks_held", help, zero);

    expect(await series(one)).toEqual(["locks_held 0"]);
    expect(await series(other)).toEqual([]);
  });
});

function failureCounter(metrics: Metrics) {
  return metrics.counter("lock_failures_total", "Locks that were not acquired.", {
    reason: ["contention", "timeout"],
    stage: ["gateway", "ro"],
  });
}

async function series(metrics: { text(): Promise<string> }): Promise<string[]> {
  return (await metrics.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

function words(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `w${i}`);
}
