import { describe, expect, it } from "vitest";
import { incidentName, incidentNumber, labelText } from "./names.ts";

describe("the name of an incident", () => {
  it("fits a label up to the millionth incident of a fingerprint", () => {
    expect(incidentName("v1:abc", 1)).toMatch(/^rr-[0-9a-v]{52}-1$/);
    expect(incidentName("v1:abc", 9_999_999).length).toBe(63);
  });

  it("is read back as its number", () => {
    expect(incidentNumber("v1:abc", incidentName("v1:abc", 17))).toBe(17);
  });

  it.each([
    ["of another fingerprint", incidentName("v1:other", 17)],
    ["without a number", incidentName("v1:abc", 1).slice(0, -1)],
    ["with a number that would not be written like that", `${incidentName("v1:abc", 1).slice(0, -1)}01`],
    ["with more behind the number", `${incidentName("v1:abc", 1)}-x`],
    ["that a person made up", "rr-disk"],
  ])("is not one %s", (_what, name) => {
    expect(incidentNumber("v1:abc", name)).toBeUndefined();
  });

  it.each([0, -1, 1.5, Number.NaN])("is not counted from %d", (n) => {
    expect(() => incidentName("v1:abc", n)).toThrow(TypeError);
  });
});

describe("a label for display", () => {
  it.each([
    ["wfe-disk-cleanup", "wfe-disk-cleanup"],
    ["system:node/x", "system_node_x"],
    ["-x-", "x"],
    [`${"a".repeat(62)}.b`, "a".repeat(62)],
    ["", ""],
  ])("of %j is %j", (name, label) => {
    expect(labelText(name)).toBe(label);
  });
});
