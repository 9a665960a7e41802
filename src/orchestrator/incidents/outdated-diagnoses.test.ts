import { expect, it } from "vitest";
import { OutdatedDiagnoses } from "./outdated-diagnoses.ts";

const now = 1_000;

it("a diagnosis is outdated until it was made again as of the latest change", () => {
  const outdated = new OutdatedDiagnoses();
  outdated.add(["a", "b"]);
  const change = outdated.changeOf("a") ?? 0;
  outdated.add(["a"]);

  outdated.settle("a", { change, version: "" });
  outdated.settle("b", { change, version: "" });

  expect(outdated.changeOf("a")).toBeDefined();
  expect(outdated.changeOf("b")).toBeUndefined();
});

it("an incident that is gone is forgotten", () => {
  const outdated = new OutdatedDiagnoses();
  outdated.add(["a"]);
  outdated.settle("a", { change: undefined, version: "two series", recheckAtMs: now });

  outdated.forget("a");

  expect(outdated.changeOf("a")).toBeUndefined();
  expect(outdated.isOutdated("a", "", now)).toBe(false);
});

it("a diagnosis is outdated while the series of its incident are others than when it was made", () => {
  const outdated = new OutdatedDiagnoses();
  const change = undefined;

  expect(outdated.isOutdated("a", "", now)).toBe(false);
  expect(outdated.isOutdated("a", "two series", now)).toBe(true);
  outdated.settle("a", { change, version: "two series" });
  expect(outdated.isOutdated("a", "two series", now)).toBe(false);
  expect(outdated.isOutdated("a", "", now)).toBe(true);
  outdated.settle("a", { change, version: "" });
  expect(outdated.isOutdated("a", "", now)).toBe(false);
});

it("an analysis that depends on facts is outdated when it is to be repeated, until it was", () => {
  const outdated = new OutdatedDiagnoses();
  const change = undefined;
  outdated.settle("a", { change, version: "no rule", recheckAtMs: now + 10 });

  expect(outdated.isOutdated("a", "no rule", now)).toBe(false);
  expect(outdated.isOutdated("a", "no rule", now + 10)).toBe(true);
  outdated.settle("a", { change, version: "no rule" });
  expect(outdated.isOutdated("a", "no rule", now + 10)).toBe(false);
});
