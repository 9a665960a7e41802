import { describe, expect, it } from "vitest";
import { parseJsonBody } from "./bodies.ts";

const long = "x".repeat(70_000);

describe("a body", () => {
  it.each([
    ["lists", "", "[", "]"],
    ["objects", "", '{"a":', "}"],
    ["lists in a long body", long, "[", "]"],
    ["objects in a long body", long, '{"a":', "}"],
  ])("may have 100 levels of %s, and no more", (_what, text, open, close) => {
    const nested = (levels: number) => `${open.repeat(levels)}"${text}"${close.repeat(levels)}`;

    expect(JSON.stringify(parseJsonBody(nested(100)))).toBe(nested(100));
    expect(() => parseJsonBody(nested(101))).toThrow(expect.objectContaining({ statusCode: 400 }));
  });

  it.each(["", "{", "[1,]", "undefined", "[".repeat(60_000), "[".repeat(200_000)])("has to be JSON: %.20s", (body) => {
    expect(() => parseJsonBody(body)).toThrow(expect.objectContaining({ statusCode: 400 }));
  });
});
