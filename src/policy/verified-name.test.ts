import { expect, it } from "vitest";
import { isVerifiedName } from "./verified-name.ts";

const minute = 60_000;
const signableSinceMs = 10 * minute;

it.each<[string, string | undefined, number | undefined, boolean]>([
  ["that the server has compared for a minute before it could be written", "kim", 9 * minute, true],
  ["that was compared for less than a minute before", "kim", 9 * minute + 1, false],
  ["that could be written before names were compared", "kim", 11 * minute, false],
  ["that is never compared", "kim", undefined, false],
  ["that is empty", "", 0, false],
  ["that is missing", undefined, 0, false],
  // NaN: without a known start, names were not compared.
  ["on something whose age is not known", "kim", Number.NaN, false],
])("a name %s", (_, name, knownSinceMs, isVerified) => {
  expect(isVerifiedName(name, { knownSinceMs, signableSinceMs })).toBe(isVerified);
});

it("the name of the only user who can write is verified, and no other", () => {
  const guarantee = { knownSinceMs: { onlyUser: "interlock-admin" }, signableSinceMs: 0 };

  expect(isVerifiedName("interlock-admin", guarantee)).toBe(true);
  expect(isVerifiedName("kim", guarantee)).toBe(false);
});
