import { describe, expect, it } from "vitest";
import { toSource } from "../../scripts/to-source.ts";
import { defaultConfig } from "../../src/config/default-config.ts";
import { loadConfig } from "../../src/config/load.ts";
import { ourCrds } from "../../src/resources/index.ts";

describe("bundled data", () => {
  it.each([
    ["the default settings", defaultConfig(), loadConfig({ env: {} })],
    ["our definitions", ourCrds(), ourCrds()],
    ["a map", new Map([["a", undefined]]), new Map([["a", undefined]])],
  ])("has %s unchanged", (_what, value, expected) => {
    expect(evaluate(toSource(value))).toStrictEqual(expected);
  });

  it.each([[() => 1], [/x/], [Number.NaN], [new Date(0)]])("refuses what is no data: %s", (value) => {
    expect(() => toSource({ value })).toThrow(TypeError);
  });
});

function evaluate(source: string): unknown {
  return new Function(`return ${source}`)();
}
