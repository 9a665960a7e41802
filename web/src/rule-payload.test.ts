import { expect, it } from "vitest";
import { examplePayload, parsePayload } from "./rule-payload.ts";

it("reads a pasted alert", () => {
  expect(parsePayload('{"alerts": []}')).toEqual({ kind: "valid", value: { alerts: [] } });
});

it.each(["", "  \n"])("reports a missing alert: %j", (text) => {
  expect(parsePayload(text)).toEqual({ kind: "invalid", message: "Paste the body of an alert first." });
});

it("shows why a pasted text is no JSON", () => {
  expect(parsePayload('{"alerts": [}')).toEqual({
    kind: "invalid",
    message: expect.stringMatching(/^This is not JSON: .*Unexpected token '}'/),
  });
});

it("has an example that can be read", () => {
  expect(parsePayload(examplePayload)).toMatchObject({ kind: "valid", value: { version: "4" } });
});
