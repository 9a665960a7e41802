import { expect, it } from "vitest";
import { objectPath, withQuery } from "./api.ts";

it("encodes the parts of a key, and a dot, which the server takes for that of a file name", () => {
  expect(objectPath("incidents", "payment/a b.v2")).toBe("/incidents/payment/a%20b%2Ev2");
});

it("has only parameters with a value in a query", () => {
  expect(withQuery("/rows/incidents", { lane: "done", after: undefined, limit: 5 })).toBe(
    "/rows/incidents?lane=done&limit=5",
  );
  expect(withQuery("/rows/incidents", {})).toBe("/rows/incidents");
});
