import { expect, it } from "vitest";
import { OutdatedDiagnoses } from "./outdated-diagnoses.ts";

const now = 1_000;

it("a diagnosis is outdated until it was repeated after the latest change", () => {
  const outdated = new OutdatedDiagnoses();
  outdated.add(["a", "b"]);
  const change = outdated.changeOf("a") ?? 0;
  outdated.add(["a"]);

  outdated.settle("a", { change, version: "" });
  outdated.settle("b", { change, version: "" });

  expect(outdated.changeOf("a")).toBeDefined();
  expect(outdated.changeOf("b")).toBeUndefined();
});

it("the state of a deleted incident is dropped", () => {
  const outdated = new OutdatedDiagnoses();
  outdated.add(["a"]);
  outdated.settle("a", { change: undefined, version: "two series", recheckAtMs: now });

  outdated.forget("a");

  expect(outdated.changeOf("a")).toBeUndefined();
  expect(outdated.isOutdated("a", "", now)).toBe(false);
});

it("a diagnosis is outdated while the series of its incident differ from the analyzed ones", () => {
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

it("an analysis that depends on facts is outdated from its due time until it was repeated", () => {
  const outdated = new OutdatedDiagnoses();
  const change = undefined;
  outdated.settle("a", { change, version: "no rule", recheckAtMs: now + 10 });

  expect(outdated.isOutdated("a", "no rule", now)).toBe(false);
  expect(outdated.isOutdated("a", "no rule", now + 10)).toBe(true);
  outdated.settle("a", { change, version: "no rule" });
  expect(outdated.isOutdated("a", "no rule", now + 10)).toBe(false);
});
