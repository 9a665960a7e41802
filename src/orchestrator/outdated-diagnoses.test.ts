import { expect, it } from "vitest";
import { OutdatedDiagnoses } from "./outdated-diagnoses.ts";

it("a diagnosis is outdated until it was made again as of the latest change", () => {
  const outdated = new OutdatedDiagnoses();
  outdated.add(["a", "b"]);
  const first = outdated.changeOf("a") ?? 0;
  outdated.add(["a"]);

  outdated.settle("a", first, "");
  outdated.settle("b", first, "");

  expect(outdated.changeOf("a")).toBeDefined();
  expect(outdated.changeOf("b")).toBeUndefined();
});

it("an incident that is gone is forgotten", () => {
  const outdated = new OutdatedDiagnoses();
  outdated.add(["a"]);

  outdated.forget("a");

  expect(outdated.changeOf("a")).toBeUndefined();
});

it("a diagnosis is outdated while the series of its incident are others than when it was made", () => {
  const outdated = new OutdatedDiagnoses();

  expect(outdated.isOutdated("a", "")).toBe(false);
  expect(outdated.isOutdated("a", "two series")).toBe(true);
  outdated.settle("a", undefined, "two series");
  expect(outdated.isOutdated("a", "two series")).toBe(false);
  expect(outdated.isOutdated("a", "")).toBe(true);
  outdated.settle("a", undefined, "");
  expect(outdated.isOutdated("a", "")).toBe(false);
});
