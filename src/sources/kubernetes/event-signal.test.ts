import { describe, expect, it } from "vitest";
import { toEventSignal } from "./event-signal.ts";

it("limits the message of an Event like the texts of any other signal", () => {
  const involvedObject = { kind: "Pod", namespace: "payment", name: "api-1" };
  const event = { type: "Warning", reason: "Evicted", message: `x${"😀".repeat(3_000)}`, involvedObject, metadata: {} };

  const reading = toEventSignal(event, "2026-11-15T12:00:00.000Z");

  const { message = "" } = reading.kind === "signal" ? reading.signal.annotations : {};
  expect(message).toMatch(/^x😀+… \(truncated from 6001 characters, sha256 [0-9a-f]{16}\)$/u);
  expect(Buffer.from(message).toString()).toBe(message);
});

describe("the node of an Event", () => {
  it.each<[string, object, object]>([
    ["source.host", { source: { component: "kubelet", host: "worker-1" } }, { node: "worker-1" }],
    [
      "the instance of a kubelet",
      { reportingComponent: "kubelet", reportingInstance: "worker-2" },
      { node: "worker-2" },
    ],
    [
      "not the instance of another component",
      { reportingComponent: "scheduler", reportingInstance: "scheduler-1" },
      {},
    ],
    ["not an invalid name", { source: { host: "../etc" } }, {}],
    ["undefined without any", {}, {}],
  ])("is %s", (_what, given, labels) => {
    const involvedObject = { kind: "Pod", namespace: "payment", name: "api-1" };
    const event = { type: "Warning", reason: "Evicted", involvedObject, metadata: {}, ...given };

    const reading = toEventSignal(event, "2026-11-15T12:00:00.000Z");

    expect(reading.kind === "signal" && reading.signal.labels).toEqual(labels);
  });
});
