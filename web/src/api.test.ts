import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiError, getJson, objectPath, parseJson, postJson, withQuery } from "./api.ts";

afterEach(() => vi.unstubAllGlobals());

describe("a response", () => {
  it.each([
    ["is cut off", () => new ReadableStream({ start: (body) => body.error(new TypeError("network error")) })],
    ["is the page of a proxy", () => "<html>"],
  ])("that %s is a temporary problem", async (_, body) => {
    vi.stubGlobal("fetch", async () => new Response(body()));

    for (const request of [() => getJson("/now"), () => postJson("/operations/ack", {})]) {
      const error = await request().catch((error: unknown) => error);
      expect(error).toBeInstanceOf(ApiError);
      expect((error as ApiError).isTemporary).toBe(true);
    }
  });

  it("that its reader has aborted is no problem of the server", async () => {
    const reader = new AbortController();
    vi.stubGlobal("fetch", async () => {
      reader.abort();
      return new Response(new ReadableStream({ start: (body) => body.error(reader.signal.reason) }));
    });

    await expect(getJson("/now", reader.signal)).rejects.toThrow(reader.signal.reason);
  });
});

it("encodes the parts of a key, and a dot, which the server takes for that of a file name", () => {
  expect(objectPath("incidents", "payment/a b.v2")).toBe("/incidents/payment/a%20b%2Ev2");
});

it("has only parameters with a value in a query", () => {
  expect(withQuery("/rows/incidents", { lane: "done", after: undefined, limit: 5 })).toBe(
    "/rows/incidents?lane=done&limit=5",
  );
  expect(withQuery("/rows/incidents", {})).toBe("/rows/incidents");
});

it.each([
  ["plain", "plain"],
  ["שלום", "שלום"],
  ["evil\u202egnp.exe", "evil\\u202egnp.exe"],
  ["a\u2066b\u2069c\u061cd\u200fe", "a\\u2066b\\u2069c\\u061cd\\u200fe"],
  ['quoted "\u202e" \\ ', 'quoted "\\u202e" \\ '],
])("makes visible which characters change the direction of text: %j is %j", (text, expected) => {
  expect(parseJson(JSON.stringify({ text }))).toEqual({ text: expected });
});
