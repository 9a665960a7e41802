import { expect, it } from "vitest";
import type { KubeObject } from "../object.ts";
import { isOnlyStallChange } from "./only-stall-change.ts";

it.each<[string, object, object, boolean]>([
  ["a stall that is reported", {}, { conditions: [stalled("a")] }, true],
  ["a stall that is reported anew", { conditions: [stalled("a")] }, { conditions: [stalled("b")] }, true],
  ["a stall that ends", { phase: "Pending", conditions: [stalled("a")] }, { phase: "Pending", conditions: [] }, true],
  ["another condition", {}, { conditions: [{ type: "Recorded" }] }, false],
  ["a stall that ends with the phase", { phase: "Pending", conditions: [stalled("a")] }, { phase: "Running" }, false],
  ["a change of nothing", { conditions: [stalled("a")] }, { conditions: [stalled("a")] }, false],
])("%s is recognized as a change of the stall only", (_name, before, after, expected) => {
  expect(isOnlyStallChange(version("1", before), version("2", after))).toBe(expected);
});

it("a change of annotations is more than a stall", () => {
  const before = version("1", {});
  const after = version("2", { conditions: [stalled("a")] });

  expect(isOnlyStallChange(before, { ...after, metadata: { ...after.metadata, annotations: { a: "b" } } })).toBe(false);
});

function stalled(message: string) {
  return { type: "Stalled", message };
}

function version(resourceVersion: string, status: object): KubeObject {
  return { metadata: { name: "a", resourceVersion }, ...{ status } };
}
