import { describe, expect, it } from "vitest";
import { flag, listOf, optionalText, part, z } from "./index.ts";

const schema = part({
  name: optionalText,
  isDraft: flag,
  owner: part({ id: z.int().optional().catch(undefined) }),
  labels: listOf(part({ title: optionalText })),
});

describe("an object of another program", () => {
  it("has the fields that are readable", () => {
    const value = { name: "api", isDraft: true, owner: { id: 7, extra: 1 }, labels: [{ title: "a" }], extra: true };

    expect(schema.parse(value)).toEqual({ name: "api", isDraft: true, owner: { id: 7 }, labels: [{ title: "a" }] });
  });

  it("lacks fields of another type, and only those", () => {
    const value = { name: 7, isDraft: "true", owner: { id: "7" }, labels: [{ title: "" }, "b", null] };

    expect(schema.parse(value)).toEqual({ isDraft: false, owner: {}, labels: [{}, {}, {}] });
  });

  it.each([undefined, null, "text", 7, true, ["a"], {}])("has no field if it is %j", (value) => {
    expect(schema.parse(value)).toEqual({ isDraft: false, owner: {}, labels: [] });
  });

  it.each([null, "text", 7, {}])("has an empty list in place of %j", (labels) => {
    expect(schema.parse({ labels }).labels).toEqual([]);
  });
});
