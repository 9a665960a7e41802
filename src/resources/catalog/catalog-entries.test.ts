import { describe, expect, it } from "vitest";
import type { RemediationWorkflow, RemediationWorkflowSpec } from "../kinds/remediation-workflow.ts";
import { builtInKinds } from "../target/kinds.ts";
import { currentEntry, entryName } from "./catalog-entries.ts";
import { compareVersions } from "./compare-versions.ts";

describe("versions", () => {
  it("are in order", () => {
    const inOrder = [
      "0.9",
      "1.0.0-alpha",
      "1.0.0-alpha.1",
      "1.0.0-alpha.beta",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
      "1.0.0-rc.1",
      "1.0.0",
      "1.0.1",
      "v1.2",
      "1.10",
      "2026.11.15",
      "main",
    ];

    expect([...inOrder].reverse().sort(compareVersions)).toEqual(inOrder);
  });

  it.each([
    ["1.0", "1.0.0"],
    ["1.0.0+build.1", "1.0.0+build.2"],
    ["v1.0.0", "1.0.0"],
  ])("%s and %s are equal, but still have an order", (a, b) => {
    expect(compareVersions(a, b)).toBe(-compareVersions(b, a));
    expect(compareVersions(a, b)).not.toBe(0);
  });
});

describe("the current entry of a workflow", () => {
  it("is the highest version, not the latest entry", () => {
    expect(currentEntry([entry("1.9.0"), entry("1.10.0"), entry("1.2.0")], builtInKinds)?.spec.version).toBe("1.10.0");
  });

  it("is an older one if the newest cannot be run", () => {
    const broken = entry("2.0.0", { timeout: "0s" });
    const refused = { ...entry("3.0.0"), status: { catalogStatus: "Invalid" } as const };

    expect(currentEntry([entry("1.0.0"), broken, refused], builtInKinds)?.spec.version).toBe("1.0.0");
  });

  it("is none if none can be run", () => {
    expect(currentEntry([], builtInKinds)).toBeUndefined();
    expect(currentEntry([entry("1.0.0", { targetKinds: ["nonsense"] })], builtInKinds)).toBeUndefined();
  });
});

describe("the name of an entry", () => {
  it("is readable and stable", () => {
    expect(entryName({ workflowId: "node-disk-cleanup", version: "1.4.0" })).toMatch(
      /^node-disk-cleanup-1-4-0-[0-9a-v]{8}$/,
    );
  });

  it("differs if only the readable part is the same", () => {
    const names = [
      ["a-1", "0"],
      ["a", "1-0"],
      ["a", "1.0"],
      ["a", "1_0"],
    ].map(([workflowId = "", version = ""]) => entryName({ workflowId, version }));

    expect(new Set(names).size).toBe(4);
  });
});

function entry(version: string, special: Partial<RemediationWorkflowSpec> = {}): RemediationWorkflow {
  const spec = { workflowId: "w", version, description: "d", containerImage: "i", pipeline: "workflow", ...special };
  return { metadata: { name: entryName(spec) }, spec };
}
