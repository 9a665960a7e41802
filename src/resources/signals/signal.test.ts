import { describe, expect, it } from "vitest";
import { parseTarget } from "../target/parse-target.ts";
import { computeFingerprint, type FingerprintField, type Signal, signalTime } from "./signal.ts";

describe("the fingerprint of a signal", () => {
  it("is stable: a change needs a new version", () => {
    expect(computeFingerprint(signal(), target("payment/deployment/payment-api"))).toBe(
      "v1:a5432a68a0cc90abfcdec94aeada189082668bde7e6c45de1997be349d74421c",
    );
  });

  it.each<[string, Partial<Signal>, boolean]>([
    ["the sender", { source: "generic" }, false],
    ["what is reported", { name: "KubePodNotReady" }, false],
    ["the severity", { severity: "warning" }, true],
    ["the Pod that was named", { subject: { kind: "Pod", namespace: "payment", name: "payment-api-2" } }, true],
    ["the series", { series: "other" }, true],
    ["labels", { labels: { pod: "payment-api-2" } }, true],
    ["the time", { firingAt: "2026-11-15T07:00:00.000Z" }, true],
    ["the end of it", { status: "resolved", endedAt: "2026-11-15T07:00:00.000Z" }, true],
  ])("with another value of %s is the same: %s %s", (_what, change, same) => {
    const owner = target("payment/deployment/payment-api");

    expect(computeFingerprint(signal(change), owner) === computeFingerprint(signal(), owner)).toBe(same);
  });

  it("differs by the target that owns the subject", () => {
    expect(computeFingerprint(signal(), target("node/a"))).not.toBe(computeFingerprint(signal(), target("node/b")));
  });

  it.each<[readonly FingerprintField[], Partial<Signal>]>([
    [["severity"], { severity: "warning" }],
    [["name", "labels.team"], { labels: { team: "b" } }],
    [["labels.team"], { labels: {} }],
    [["labels.team"], { labels: { team: "" } }],
  ])("can be made of %j", (fields, change) => {
    const node = target("node/a");
    const base = { labels: { team: "a" } };

    expect(computeFingerprint(signal({ ...base, ...change }), node, fields)).not.toBe(
      computeFingerprint(signal(base), node, fields),
    );
  });

  it("distinguishes an empty label from none", () => {
    const node = target("node/a");
    const fields = ["labels.team"] as const;

    expect(computeFingerprint(signal({ labels: { team: "" } }), node, fields)).not.toBe(
      computeFingerprint(signal({ labels: {} }), node, fields),
    );
  });

  it("does not depend on the order or the repetition of fields", () => {
    const node = target("node/a");

    expect(computeFingerprint(signal(), node, ["target", "name", "source", "name"])).toBe(
      computeFingerprint(signal(), node),
    );
  });
});

describe("a time in a signal", () => {
  it.each([
    ["2026-11-15T06:00:00Z", "2026-11-15T06:00:00.000Z"],
    ["2026-11-15T06:00:00.123456789Z", "2026-11-15T06:00:00.123Z"],
    ["2026-11-15T08:00:00+02:00", "2026-11-15T06:00:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ])("%s is read as %s", (text, iso) => {
    expect(signalTime(text)).toBe(iso);
  });

  it.each([
    "",
    "now",
    "2026-11-15",
    "2026-11-15T06:00:00",
    "2026-13-15T06:00:00Z",
    5,
    null,
    undefined,
    {},
    "9".repeat(99),
  ])("%j is not a time", (text) => {
    expect(signalTime(text)).toBeUndefined();
  });

  it("beyond the year 9999 is not a time", () => {
    expect(signalTime("9999-12-31T23:59:59-23:59")).toBeUndefined();
  });
});

function signal(change: Partial<Signal> = {}): Signal {
  return {
    status: "firing",
    source: "alertmanager",
    name: "KubePodCrashLooping",
    severity: "critical",
    subject: { kind: "Pod", namespace: "payment", name: "payment-api-1" },
    series: "a1",
    labels: {},
    annotations: {},
    firingAt: "2026-11-15T06:00:00.000Z",
    payload: {},
    ...change,
  };
}

function target(text: string) {
  const reading = parseTarget(text);
  if (reading.kind === "problem") throw new Error(reading.problem);
  return reading.target;
}
