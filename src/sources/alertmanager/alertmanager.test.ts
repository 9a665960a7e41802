import { describe, expect, it } from "vitest";
import type { SignalReading } from "../../resources/index.ts";
import { alertmanager } from "./alertmanager.ts";

const receivedAt = "2026-11-15T06:05:00.000Z";
const labels = { alertname: "DiskFull", severity: "critical", node: "worker-1" };

describe("a webhook of Alertmanager", () => {
  it("makes each alert a signal of its own", () => {
    const { readings } = read({ alerts: [alert(), alert({ labels: { ...labels, node: "worker-2" } })] });

    expect(readings.map((reading) => reading.kind === "signal" && reading.signal.subject?.name)).toEqual([
      "worker-1",
      "worker-2",
    ]);
    expect(readings[0]).toEqual({
      kind: "signal",
      signal: {
        status: "firing",
        source: "alertmanager",
        name: "DiskFull",
        severity: "critical",
        subject: { kind: "Node", name: "worker-1" },
        series: "5c1f2a3b4d5e6f70",
        labels,
        annotations: { summary: "disk is full" },
        firingAt: "2026-11-15T06:00:00.000Z",
        payload: alert(),
      },
    });
  });

  it("keeps the valid alerts, and reports all problems of the others", () => {
    const { readings } = read({
      alerts: [alert(), 7, alert({ status: "odd", startsAt: "yesterday", labels: { node: "a", n: 1 } })],
    });

    expect(readings.map(({ kind }) => kind)).toEqual(["signal", "problems", "problems"]);
    expect(problemsOf(readings[1])).toEqual(["alerts[1] is not an object"]);
    expect(problemsOf(readings[2])).toEqual([
      "alerts[2].status is neither firing nor resolved",
      "alerts[2].labels.n is not text",
      "alerts[2].labels.alertname is missing or is not text",
      "alerts[2].startsAt is not a time such as 2026-11-15T06:00:00Z",
    ]);
  });

  it("reads an alert without an object, with the reason", () => {
    const watchdog = only(alert({ labels: { alertname: "Watchdog" } }));

    expect(watchdog).toMatchObject({ name: "Watchdog", noSubject: "no label names an object" });
    expect(watchdog).not.toHaveProperty("subject");
  });

  it("reports the number of omitted alerts", () => {
    expect(read({ alerts: [], truncatedAlerts: 12 }).truncated).toBe(12);
    expect(read({ alerts: [], truncatedAlerts: -1 }).truncated).toBe(0);
    expect(read({ alerts: [] }).truncated).toBe(0);
  });

  it.each([
    ["its end", { endsAt: "2026-11-15T06:03:00Z" }, "2026-11-15T06:03:00.000Z"],
    ["the time of receipt, if the end is not set", { endsAt: "0001-01-01T00:00:00Z" }, receivedAt],
    ["the time of receipt, if there is no end", {}, receivedAt],
  ])("resolves at %s", (_what, change, endedAt) => {
    expect(only(alert({ status: "resolved", ...change }))).toMatchObject({ status: "resolved", endedAt });
  });

  it("has no end while it fires", () => {
    expect(only(alert({ endsAt: "2026-11-15T07:00:00Z" }))).not.toHaveProperty("endedAt");
  });

  it("fires since the time of receipt if it has no start", () => {
    expect(only(alert({ startsAt: "0001-01-01T00:00:00Z" })).firingAt).toBe(receivedAt);
    expect(only(alert({ startsAt: undefined })).firingAt).toBe(receivedAt);
  });

  it("has the status of the group if it has none", () => {
    const { readings } = read({ status: "resolved", alerts: [alert({ status: undefined })] });

    expect(readings[0]).toMatchObject({ signal: { status: "resolved" } });
  });

  it("distinguishes series by their labels if there is no fingerprint", () => {
    const without = (more: object) => only(alert({ fingerprint: undefined, labels: { ...labels, ...more } })).series;

    expect(without({})).toMatch(/^[0-9a-f]{16}$/);
    expect(without({ a: "1", b: "2" })).toBe(without({ b: "2", a: "1" }));
    expect(without({ device: "sda" })).not.toBe(without({}));
  });

  it("has the severity unknown if it has none", () => {
    expect(only(alert({ labels: { alertname: "X", node: "a" } })).severity).toBe("unknown");
  });

  it.each([
    [undefined, "the body is not a JSON object as Alertmanager's webhook sends it"],
    [[], "the body is not a JSON object as Alertmanager's webhook sends it"],
    [{ version: "5", alerts: [] }, "version is not 4, the only version of the webhook that is read here"],
    [{ version: "4" }, "alerts is missing or is not a list"],
  ])("cannot be %j", (body, problem) => {
    expect(alertmanager.read(body, receivedAt)).toEqual({ kind: "problems", problems: [problem] });
  });
});

function read(body: object) {
  const reading = alertmanager.read({ version: "4", ...body }, receivedAt);
  if (reading.kind === "problems") throw new Error(reading.problems.join());
  return reading;
}

function only(value: object) {
  const [reading] = read({ alerts: [value] }).readings;
  if (reading?.kind !== "signal") throw new Error(problemsOf(reading).join());
  return reading.signal;
}

function problemsOf(reading: SignalReading | undefined): readonly string[] {
  return reading?.kind === "problems" ? reading.problems : [];
}

function alert(change: object = {}) {
  return {
    status: "firing",
    labels,
    annotations: { summary: "disk is full" },
    startsAt: "2026-11-15T06:00:00Z",
    fingerprint: "5c1f2a3b4d5e6f70",
    ...change,
  };
}
