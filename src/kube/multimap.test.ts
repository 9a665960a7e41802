import { describe, expect, it } from "vitest";
import { Multimap } from "./multimap.ts";

describe("a multimap", () => {
  const [one, two, three] = [{ name: "one" }, { name: "two" }, { name: "three" }];

  it("has no values for an unknown key", () => {
    expect([...new Multimap().get("a")]).toEqual([]);
  });

  it("keeps every value once, in the order of their addition", () => {
    const map = new Multimap<object>();
    for (const value of [two, one, two, three, one]) map.add("a", value);
    map.add("b", one);

    expect([...map.get("a")]).toEqual([two, one, three]);
    expect([...map.get("b")]).toEqual([one]);
  });

  it("removes one value and keeps the others", () => {
    const map = new Multimap<object>();
    for (const value of [one, two]) map.add("a", value);

    map.delete("a", one);
    expect([...map.get("a")]).toEqual([two]);
    map.delete("a", two);
    expect([...map.get("a")]).toEqual([]);
    map.add("a", three);
    expect([...map.get("a")]).toEqual([three]);
  });

  it("ignores the removal of a value that it does not have", () => {
    const map = new Multimap<object>();
    map.add("a", one);

    map.delete("a", two);
    map.delete("b", one);

    expect([...map.get("a")]).toEqual([one]);
  });
});
