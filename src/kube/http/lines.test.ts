import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Lines } from "./lines.ts";

describe("lines", () => {
  it("are the same wherever their bytes are cut", () => {
    const texts = fc.array(
      fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", "")),
      { maxLength: 8 },
    );
    const cuts = fc.array(fc.nat(200), { maxLength: 12 });

    fc.assert(
      fc.property(texts, cuts, (expected, at) => {
        const bytes = Buffer.from(expected.map((text) => `${text}\n`).join(""));

        expect(linesIn(cut(bytes, at))).toEqual(expected.filter((text) => text !== ""));
      }),
    );
  });

  it("show whether the last line is incomplete", () => {
    const lines = new Lines(100);

    const whole = [...lines.take(Buffer.from("a\nb"))];

    expect(whole).toEqual(["a"]);
    expect(lines.isInsideLine).toBe(true);
    expect([...lines.take(Buffer.from("\n"))]).toEqual(["b"]);
    expect(lines.isInsideLine).toBe(false);
  });

  it("have a maximum length, however slowly one grows", () => {
    const lines = new Lines(3);

    expect([...lines.take(Buffer.from("abc\nab"))]).toEqual(["abc"]);
    expect([...lines.take(Buffer.from("c"))]).toEqual([]);
    expect(() => [...lines.take(Buffer.from("d"))]).toThrow(RangeError);
  });
});

function linesIn(chunks: readonly Buffer[]): string[] {
  const lines = new Lines(10_000);
  return chunks.flatMap((chunk) => [...lines.take(chunk)]);
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [0, ...at.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end));
}
