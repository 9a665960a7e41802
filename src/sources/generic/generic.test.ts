import { describe, expect, it } from "vitest";
import { generic } from "./generic.ts";

const receivedAt = "2026-11-15T06:05:00.000Z";

describe("a generic signal", () => {
  it("needs a name and a target", () => {
    expect(only({ name: "DiskFull", target: "node/worker-1" })).toEqual({
      status: "firing",
      source: "generic",
      name: "DiskFull",
      severity: "unknown",
      subject: { kind: "node", name: "worker-1" },
      series: "/node/worker-1",
      labels: {},
      annotations: {},
      firingAt: receivedAt,
      payload: { name: "DiskFull", target: "node/worker-1" },
    });
  });

  it("may have all other fields", () => {
    const target = { kind: "Certificate", apiVersion: "cert-manager.io/v1", namespace: "web", name: "tls" };
    const optional = {
      severity: "high",
      source: "watchman",
      series: "s1",
      labels: { a: "b" },
      annotations: { c: "d" },
    };
    const times = { firingTime: "2026-11-15T08:00:00+02:00", endTime: "2026-11-15T06:01:00Z" };

    expect(only({ name: "Expired", target, status: "resolved", ...optional, ...times })).toMatchObject({
      ...optional,
      status: "resolved",
      subject: target,
      firingAt: "2026-11-15T06:00:00.000Z",
      endedAt: "2026-11-15T06:01:00.000Z",
    });
  });

  it.each([{ signals: [item(1), item(2)] }, [item(1), item(2)]])("may be in a list", (body) => {
    const reading = generic.read(body, receivedAt);

    expect(reading).toMatchObject({ readings: [{ signal: { name: "n1" } }, { signal: { name: "n2" } }] });
  });

  it("reports all of its problems", () => {
    const body = { nam: "x", target: "a/b/c/d", status: "on", labels: { a: 1 }, firingTime: "soon", severity: "" };

    const reading = generic.read([body, item(2)], receivedAt);

    expect(reading).toMatchObject({
      readings: [
        {
          problems: [
            expect.stringMatching(/^signals\[0\]\.nam is not a field of a signal: there are name, target/),
            "signals[0].name is missing or is not text",
            "signals[0].severity is missing or is not text",
            "signals[0].status is neither firing nor resolved",
            "signals[0].labels.a is not text",
            "signals[0].firingTime is not a time such as 2026-11-15T06:00:00Z",
            "signals[0].target is not written as namespace/kind/name or kind/name",
          ],
        },
        { kind: "signal" },
      ],
    });
  });

  it.each([7, null, "x", undefined])("is not %j", (body) => {
    expect(generic.read(body, receivedAt)).toMatchObject({ kind: "problems" });
  });
});

function item(n: number) {
  return { name: `n${n}`, target: "node/a" };
}

function only(body: object) {
  const reading = generic.read(body, receivedAt);
  const [first] = reading.kind === "signals" ? reading.readings : [];
  if (first?.kind !== "signal") throw new Error(JSON.stringify(reading));
  return first.signal;
}
