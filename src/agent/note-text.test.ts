import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasQuickAction, toNoteText } from "./note-text.ts";

describe("text from outside on GitLab", () => {
  it.each([
    ["a quick action", "/merge", "\u200b/merge"],
    ["one below other text", "done\n/approve\n/assign_reviewer me", "done\n\u200b/approve\n\u200b/assign_reviewer me"],
    ["one behind blanks", " \t/merge", " \t\u200b/merge"],
    ["a mention", "ask @all, (@kim)", "ask @\u200ball, (@\u200bkim)"],
    ["a mention as an entity", "&#64;all &commat;all", "&\u200b#64;all &\u200bcommat;all"],
    ["an image", "![x](https://evil.example)", "!\u200b[x](https://evil.example)"],
    ["HTML", "<img src=x></p><!-- x --><?x?>", "<\u200bimg src=x><\u200b/p><\u200b!-- x --><\u200b?x?>"],
  ])("is not %s", (_, text, shown) => {
    expect(toNoteText(text)).toBe(shown);
  });

  it.each([
    "see src/a.ts and /usr/bin, or 1/2",
    "mail kim@example.com",
    "if (a < b && c > d) return !ok;",
    "**bold**, `code` and [a link](https://example.com/?a=1&2)",
    "// a comment\n/* another */",
  ])("stays %j", (text) => {
    expect(toNoteText(text)).toBe(text);
  });

  it("has no quick action, whatever it was, and reads the same", () => {
    const pieces = fc.constantFrom("/merge", "/", "\n", " ", "\t", "\r", "@all", "&#64;", "![", "<img", "```", "x");
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const text = parts.join("");
        const shown = toNoteText(text);

        expect(hasQuickAction(shown)).toBe(false);
        expect(shown.replaceAll("\u200b", "")).toBe(text);
        expect(toNoteText(shown)).toBe(shown);
      }),
    );
  });
});
