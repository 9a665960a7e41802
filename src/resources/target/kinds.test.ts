import { describe, expect, it } from "vitest";
import { builtIns } from "./built-in-kinds.ts";
import { builtInKinds } from "./kinds.ts";

describe("the built-in kinds", () => {
  it("are found by every spelling, with and without group, and share no spelling", () => {
    for (const kind of builtIns) {
      const names = [kind.singular, kind.plural, ...kind.shortNames];
      const withGroup = names.flatMap((name) => kind.groups.filter(Boolean).map((group) => `${name}.${group}`));

      for (const spelling of [...names, ...withGroup]) expect(builtInKinds.find(spelling.toUpperCase())).toBe(kind);
    }
  });
});
