import { describe, expect, it } from "vitest";
import type { RemediationWorkflow } from "../kinds/remediation-workflow.ts";
import { listSecretParameters, redactParameters, redactValues } from "./redact-parameters.ts";

const entry = {
  spec: {
    parameters: {
      properties: {
        password: { type: "string", secret: true, default: "none" },
        pin: { type: "integer", secret: true, default: 1234 },
        hosts: { type: "array", secret: true, default: ["localhost"] },
        login: { type: "string", secret: true },
        mode: { type: "string", default: "none" },
      },
    },
  },
} as unknown as RemediationWorkflow;

describe("a text with values of secret parameters", () => {
  it.each([
    ["keeps the default, which the catalog shows", { password: "none" }, "none of 3", "none of 3"],
    ["keeps a default that is no text", { pin: 1234 }, "1234 rows", "1234 rows"],
    ["keeps the default of a list", { hosts: ["localhost"] }, "on localhost", "on localhost"],
    ["loses a value other than the default", { password: "hunter2" }, "hunter2, none", "[redacted], none"],
    [
      "loses entries that the default does not have",
      { hosts: ["localhost", "db-1"] },
      "localhost, db-1",
      "localhost, [redacted]",
    ],
    ["loses the default of another parameter", { login: "none", mode: "none" }, "none of 3", "[redacted] of 3"],
    ["loses a value that contains the default", { password: "none-at-all" }, "none-at-all", "[redacted]"],
    ["keeps a value of fewer than 4 characters", { login: "abc" }, "abc", "abc"],
    ["loses a value whose name alone shows a secret", { apiKey: "none" }, "none of 3", "[redacted] of 3"],
  ])("%s", (_name, parameters, text, shown) => {
    expect(redactValues(text, parameters, entry)).toBe(shown);
  });

  it("loses every secret value without a catalog entry", () => {
    expect(redactValues("none of 3", { password: "none" }, undefined)).toBe("[redacted] of 3");
  });
});

describe("recorded parameters", () => {
  it("hide the value of a secret one, also its default, so that a record does not reveal an unchanged password", () => {
    expect(redactParameters({ password: "none", mode: "none" }, entry)).toEqual({
      password: "[redacted]",
      mode: "none",
    });
  });
});

describe("the secret parameters of a run", () => {
  it("are those that the catalog declares, unless they have their default", () => {
    const parameters = { password: "none", pin: 4711, login: "me", mode: "fast" };

    expect(listSecretParameters(parameters, entry)).toEqual(["pin", "login"]);
    expect(listSecretParameters(parameters, undefined)).toEqual([]);
  });
});
