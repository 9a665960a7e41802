import { describe, expect, it } from "vitest";
import { linearPattern } from "./linear-pattern.ts";

describe("a regular expression from outside the source code", () => {
  it.each(["(a+)+", "([a-z]+)*", "(a|a?)+", "(.*)*", "(a|aa)+", "^(a*)*$"])(
    "%s takes time in proportion to the text",
    (expression) => {
      // With backtracking, 40 characters would take years: the test ends at all only in linear time.
      expect(linearPattern(`^(?:${expression})$`).test(`${"a".repeat(50_000)}!\n`)).toBe(false);
    },
  );

  it.each(["(?=a)", "(?<!a)b", "(a)\\1", "(a", "[z-a]", "a{1,5000}", "x".repeat(5_000)])(
    "%s is refused with a SyntaxError",
    (expression) => {
      expect(() => linearPattern(expression)).toThrow(SyntaxError);
    },
  );

  it.each([
    ["kube-.*", "kube-system", true],
    ["^a$", "b", false],
    ["\\d{3}", "abc123", true],
    ["[\\w.-]+", "ä", false],
    ["é|ü", "ü", true],
    ["^.$", "\u{1f600}", true],
  ])("%s on %s", (expression, text, isMatch) => {
    expect(linearPattern(expression).test(text)).toBe(isMatch);
  });

  it("can ignore case", () => {
    expect(linearPattern("^a$", { ignoreCase: true }).test("A")).toBe(true);
  });
});
