import { describe, expect, it } from "vitest";
import { flag, instant, textOrEmpty, texts, z } from "../../schema/index.ts";
import { parseResponse } from "./rest-client.ts";

const schema = z.object({ id: z.int(), at: instant, text: textOrEmpty, done: flag, labels: texts });

describe("a response", () => {
  it("may lack optional fields, and have others", () => {
    const body = { id: 1, at: "2026-11-16T10:00:00.000+0200", extra: true };

    expect(parseResponse(schema, body, "GitLab's note")).toEqual({
      id: 1,
      at: "2026-11-16T08:00:00.000Z",
      text: "",
      done: false,
      labels: [],
    });
  });

  it("keeps the texts of a list and only true counts as a flag", () => {
    const body = { id: 1, at: "2026-11-16T10:00:00Z", text: 7, done: "true", labels: ["a", 1, null, "b"] };

    expect(parseResponse(schema, body, "GitLab's note")).toMatchObject({ text: "", done: false, labels: ["a", "b"] });
  });

  it.each<[string, unknown, string]>([
    ["is not an object", [], "GitLab's note is invalid: must be an object, not a list; check the version"],
    ["is empty", undefined, "GitLab's note is invalid: is missing; check the version"],
    ["lacks a field", { at: "2026-11-16T10:00:00Z" }, "`id` is missing"],
    ["has a number that is too large", { id: 2 ** 60, at: "2026-11-16T10:00:00Z" }, "`id` must be"],
    ["has an unreadable time", { id: 1, at: "soon" }, "`at` is not a time"],
  ])("that %s is refused without repeating it", (_what, body, problem) => {
    expect(() => parseResponse(schema, body, "GitLab's note")).toThrow(
      expect.objectContaining({ kind: "refused", message: expect.stringContaining(problem) }),
    );
  });
});
