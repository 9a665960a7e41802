import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toPrintable, toStorable } from "./printable.ts";

describe("printable text", () => {
  it.each([
    ["ordinary text", 'node/worker-1 is "full": 97 % → 80 % (ä€😀)', 'node/worker-1 is "full": 97 % → 80 % (ä€😀)'],
    ["a backslash", String.raw`C:\new`, String.raw`C:\new`],
    ["a newline", "a\nrr-2   Completed", String.raw`a\nrr-2   Completed`],
    ["a carriage return", "failed\rpassed", String.raw`failed\rpassed`],
    ["a tab", "a\tb", String.raw`a\tb`],
    ["a colour", "\u001b[32mok\u001b[0m", String.raw`\u001b[32mok\u001b[0m`],
    ["a window title", "\u001b]0;owned\u0007", String.raw`\u001b]0;owned\u0007`],
    ["a link", "\u001b]8;;http://evil\u001b\\x", String.raw`\u001b]8;;http://evil\u001b\x`],
    ["a clipboard write", "\u001b]52;c;ZXZpbA==\u0007", String.raw`\u001b]52;c;ZXZpbA==\u0007`],
    ["a C1 control sequence", "\u009b2J", String.raw`\u009b2J`],
    ["a backspace", "abc\b\b\b", String.raw`abc\u0008\u0008\u0008`],
    ["delete", "a\u007f", String.raw`a\u007f`],
    ["NUL", "a\0b", String.raw`a\u0000b`],
    ["a right-to-left override", "user\u202etxt.exe", String.raw`user\u202etxt.exe`],
    ["an isolate", "\u2066x\u2069", String.raw`\u2066x\u2069`],
    ["marks of direction", "\u200e\u200f\u061c", String.raw`\u200e\u200f\u061c`],
    ["a zero-width space", "a\u200bb", String.raw`a\u200bb`],
    ["a byte order mark", "\ufeffa", String.raw`\ufeffa`],
    ["a line separator", "a\u2028b\u2029c", String.raw`a\u2028b\u2029c`],
    ["next line", "a\u0085b", String.raw`a\u0085b`],
    ["a tag character", "a\u{e0041}", String.raw`a\udb40\udc41`],
    ["half a character", "a\ud800b", String.raw`a\ud800b`],
  ])("has nothing that controls a display: %s", (_what, text, expected) => {
    expect(toPrintable(text)).toBe(expected);
  });

  it("is one line without control characters for any text, and idempotent", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const printable = toPrintable(text);
        expect(printable).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
        expect(toPrintable(printable)).toBe(printable);
      }),
    );
  });

  it("keeps the meaning of JSON", () => {
    fc.assert(
      fc.property(fc.json(), fc.string({ unit: "binary" }), (json, text) => {
        const line = JSON.stringify({ json: JSON.parse(json), text });
        expect(JSON.parse(toPrintable(line))).toEqual(JSON.parse(line));
      }),
    );
  });
});

describe("storable text", () => {
  it.each([
    ["ordinary text", 'node/worker-1 is "full"\n\tä€😀', 'node/worker-1 is "full"\n\tä€😀'],
    ["escapes, which JSON escapes anyway", "\u001b[31m\u0000", "\u001b[31m\u0000"],
    ["delete", "a\u007fb", String.raw`a\u007fb`],
    ["C1 controls", "a\u0080\u009b2J\u009f", String.raw`a\u0080\u009b2J\u009f`],
    ["next line, which YAML may contain", "a\u0085b", "a\u0085b"],
    ["what is no character", "\ufffe\uffff", String.raw`\ufffe\uffff`],
  ])("has nothing that YAML cannot contain: %s", (_what, text, expected) => {
    expect(toStorable(text)).toBe(expected);
  });
});
