import { describe, expect, it } from "vitest";
import { toNodeSignals } from "./node-signals.ts";

const now = "2026-11-17T12:00:00.000Z";

describe("the conditions of a node", () => {
  it.each([
    ["Ready", "False", [["NodeNotReady", "firing"]]],
    ["Ready", "Unknown", [["NodeNotReady", "firing"]]],
    ["Ready", "True", [["NodeNotReady", "resolved"]]],
    ["DiskPressure", "True", [["NodeDiskPressure", "firing"]]],
    ["DiskPressure", "False", [["NodeDiskPressure", "resolved"]]],
    ["OfAnotherTool", "True", []],
  ])("%s=%s is %j", (type, status, expected) => {
    expect(signalsOf([{ type, status }])).toEqual(expected);
  });

  it("report only that the node is not ready when its kubelet stops reporting", () => {
    const types = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"];

    expect(signalsOf(types.map((type) => ({ type, status: "Unknown" })))).toEqual([["NodeNotReady", "firing"]]);
  });

  it("have a message that is limited and stored like that of any other signal", () => {
    const conditions = [{ type: "Ready", status: "False", message: `\u009b${"😀".repeat(3_000)}` }];
    const [signal] = toNodeSignals({ metadata: { name: "worker-1" }, status: { conditions } }, now);

    const { message = "" } = signal?.annotations ?? {};
    expect(message).toMatch(/^\\u009b😀+… \(truncated from 6001 characters, sha256 [0-9a-f]{16}\)$/u);
    expect(Buffer.from(message).toString()).toBe(message);
  });
});

function signalsOf(conditions: readonly { readonly type: string; readonly status: string }[]) {
  const node = { metadata: { name: "worker-1" }, status: { conditions } };
  return toNodeSignals(node, now).map(({ name, status }) => [name, status]);
}
