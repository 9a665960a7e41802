import { describe, expect, it } from "vitest";
import { readResult, writeResult } from "./messages.ts";

const result = { code: 0, stdout: "out", stderr: "", outputTooLarge: false, tooManyFiles: false };
const map = { apiVersion: "v1", kind: "ConfigMap", metadata: {} };

describe("the result of a pod", () => {
  it.each([
    { kind: "nothing" } as const,
    { kind: "refused", reason: "TooLarge", message: "too large" } as const,
    { kind: "patch", bytes: Buffer.from("diff --git a/x b/x\n") } as const,
  ])("is read as it was written: $kind", (change) => {
    const written = { ...map, ...writeResult({ ...result, change }) };

    expect(readResult(written, 1_000)).toEqual({ ...result, change });
  });

  it.each([
    ["nothing", undefined],
    ["no JSON", "{"],
    ["a text", '"done"'],
    ["no output", JSON.stringify({ ...result, stdout: undefined, change: { kind: "nothing" } })],
    ["a code that is text", JSON.stringify({ ...result, code: "0", change: { kind: "nothing" } })],
    ["no change", JSON.stringify(result)],
    ["a change of another kind", JSON.stringify({ ...result, change: { kind: "all" } })],
    ["a reason of its own", JSON.stringify({ ...result, change: { kind: "refused", reason: "Mood", message: "x" } })],
    ["a patch that is not there", JSON.stringify({ ...result, change: { kind: "patch" } })],
  ])("is not accepted if it is %s", (_what, text) => {
    expect(readResult({ ...map, ...(text && { data: { result: text } }) }, 1_000)).toBeUndefined();
  });
});
