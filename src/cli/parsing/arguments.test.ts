import { describe, expect, it } from "vitest";
import { arrangeArguments, optionValue } from "./arguments.ts";

describe("arguments", () => {
  it.each([
    ["get incidents -w", "get incidents -w"],
    ["--context prod get incidents", "get incidents --context prod"],
    ["--context=prod -n a get incidents -- b", "get incidents --context=prod -n a -- b"],
    ["--kubeconfig f --data d why a", "why a --kubeconfig f --data d"],
    ["--version", "--version"],
    ["--context", "--context"],
    ["--context prod", "--context prod"],
    ["-w get incidents", "-w get incidents"],
  ])("%j are read as %j", (given, expected) => {
    expect(arrangeArguments(given.split(" "))).toEqual(expected.split(" "));
  });

  it.each([
    ["--reason=--force", "--force"],
    ["--reason=--a=b", "--a=b"],
    ["--reason=-", "-"],
    ["--reason=a=--b", "a=--b"],
  ])("%j have the value %j", (given, value) => {
    const [word = ""] = arrangeArguments([given]);

    expect(optionValue(word.slice("--reason=".length))).toBe(value);
  });

  it("behind -- are unchanged", () => {
    expect(arrangeArguments(["a", "--", "--x=--y"])).toEqual(["a", "--", "--x=--y"]);
  });

  it("have no value where an option follows", () => {
    expect(optionValue("--force")).toBeUndefined();
  });
});
