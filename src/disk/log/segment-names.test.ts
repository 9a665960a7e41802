import { expect, it } from "vitest";
import { segmentNames } from "./segment-names.ts";

const names = segmentNames({ prefix: "part-", digits: 4, suffix: ".log" });

it("names segments by their numbers, with more digits once they are needed", () => {
  expect([names.name(7), names.name(12_345)]).toEqual(["part-0007.log", "part-12345.log"]);
});

it("finds the segments of a directory in the order of their numbers", () => {
  const found = names.among(["part-12345.log", "part-0010.log", "part-0009.log"]);

  expect(found.map(({ number }) => number)).toEqual([9, 10, 12_345]);
  expect(found.map(({ name }) => name)).toEqual(["part-0009.log", "part-0010.log", "part-12345.log"]);
});

it.each([
  "owner",
  "0001.log",
  "part-1.log",
  "part-0001.log.new",
  "part-.log",
  "part-0NaN.log",
  "part-01.5.log",
  "part--001.log",
])("ignores the file %s", (file) => {
  expect(names.among([file])).toEqual([]);
});
