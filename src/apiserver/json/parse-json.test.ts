import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeJson } from "./json.ts";
import { parseJson } from "./parse-json.ts";

describe("JSON", () => {
  it.each([
    ["9007199254740993", 9007199254740993n],
    ["-9007199254740993", -9007199254740993n],
    ["9223372036854775807", 9223372036854775807n],
    ["9007199254740991", 9007199254740991],
    ["18446744073709551616", 18446744073709552000],
    ["3.0", 3],
    ["1e2", 100],
    ["-0.0", 0],
    ["1.5e-7", 1.5e-7],
  ])("reads %s without losing a digit of an int64", (text, value) => {
    expect(parseJson(text).value).toEqual(value);
  });

  it("writes a bigint with all its digits, wherever it is", () => {
    const value = { a: [1, { n: 9007199254740993n }], b: undefined, c: "x" };

    expect(writeJson(value)).toBe('{"a":[1,{"n":9007199254740993}],"c":"x"}');
  });

  it("reports the path of a field that occurs twice, and uses the last value", () => {
    const parsed = parseJson('{"spec":{"steps":[{"name":"a","name":"b"}],"x":1},"spec":{}}');

    expect(parsed.duplicates).toEqual(["spec.steps[0].name", "spec"]);
    expect(parsed.value).toEqual({ spec: {} });
  });

  it.each(["", "{", "[1,]", "{a:1}", '"', '"\\x"', "01", "1 2", "nul", "{'a':1}", '{"a" 1}', "\u0000"])(
    "refuses %j",
    (text) => {
      expect(() => parseJson(text)).toThrow(expect.objectContaining({ name: "JsonSyntaxError" }));
    },
  );

  it.each([
    ["written plainly", ""],
    ["written with spaces", " "],
  ])("rejects %s nested too deeply, regardless of its strings", (_how, space) => {
    const text = `["]]]]]]]]]]",${"[".repeat(405)}${space}${"]".repeat(406)}`;

    expect(() => parseJson(text)).toThrow("exceeded max depth of 400");
  });

  it.each([
    ["written plainly", (object: object) => JSON.stringify(object)],
    ["written with spaces", (object: object) => JSON.stringify(object, undefined, 1)],
  ])("does not keep the parsed text in memory, %s", (_how, write) => {
    const kept: unknown[] = [];
    const before = heapMb();
    for (let i = 0; i < 100; i++) {
      const small = { uid: `the-uid-of-number-${i}`, [`a-field-with-a-long-name-${i}`]: `a value with a number ${i}` };
      const { value } = parseJson(write({ small, large: "x".repeat(2 ** 20) }));
      kept.push(Reflect.get(Object(value), "small"));
    }

    expect(heapMb() - before).toBeLessThan(30);
    expect(kept).toHaveLength(100);
  });

  it("returns the same value as the built-in parser", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        // The one name that we refuse, because assigning to it would change the prototype.
        fc.pre(!text.includes("__proto__"));

        const rounded = JSON.parse(writeJson(parseJson(text).value));
        expect(rounded).toEqual(JSON.parse(text, (_key, value) => (value === 0 ? 0 : value)));
      }),
    );
  });
});

/** The heap in use after a garbage collection. */
function heapMb(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
