import { expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { systemRandom } from "../../time/index.ts";
import * as coordination from "../index.ts";

it("nothing asks whether a key was seen or marks it as seen: claiming is the only step", async () => {
  const claims = coordination.memoryClaims({ clock: new ManualClock(), random: systemRandom() });
  const operations = Object.getOwnPropertyNames(Object.getPrototypeOf(claims)).filter((name) => name !== "constructor");

  expect(operations.toSorted()).toEqual(["claim", "close", "guarantee", "share"]);
  expect(Object.keys(coordination).filter((name) => /seen/i.test(name))).toEqual([]);
  await claims.close();
});
