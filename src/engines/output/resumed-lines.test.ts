import { describe, expect, it } from "vitest";
import { LineSplitter } from "./line-splitter.ts";
import { ResumedLines } from "./resumed-lines.ts";

const at = (fraction: string, text: string) => `2026-03-01T12:00:00${fraction}Z ${text}`;

describe("the lines of a log that is opened again", () => {
  it("are those that were not printed before, although the server repeats a whole second", () => {
    const lines = new ResumedLines();
    const first = [at(".1", "a"), at(".2", "b"), at(".2", "b")].map((line) => lines.take(line));
    expect(first).toEqual(["a", "b", "b"]);
    expect(lines.sinceTime).toBe("2026-03-01T12:00:00Z");

    lines.reopen();
    const again = [at(".1", "a"), at(".2", "b"), at(".2", "b"), at(".2", "b"), at(".3", "c")];

    expect(again.map((line) => lines.take(line))).toEqual([undefined, undefined, undefined, "b", "c"]);
  });

  it("are compared by time, whatever its precision", () => {
    const lines = new ResumedLines();
    expect([at("", "a"), at(".5", "b"), at(".500000001", "c")].map((line) => lines.take(line))).toEqual([
      "a",
      "b",
      "c",
    ]);

    lines.reopen();

    expect(lines.take(at(".5", "b"))).toBeUndefined();
  });

  it("keep spaces and empty text", () => {
    const lines = new ResumedLines();

    expect([at("", "  x "), at("", "")].map((line) => lines.take(line))).toEqual(["  x ", ""]);
  });
});

describe("bytes of a stream", () => {
  it("are split into lines, also if a chunk ends inside a character", () => {
    const bytes = Buffer.from("ä\n\nöx");
    const splitter = new LineSplitter();

    const lines = [...bytes].flatMap((byte) => splitter.take(Buffer.from([byte])));

    expect([lines, splitter.end(), splitter.end()]).toEqual([["ä", ""], ["öx"], []]);
  });
});
