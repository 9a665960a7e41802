import { parseArgs } from "node:util";
import { describe, expect, it } from "vitest";
import { givenReason, MisuseError, misuseIn, onlyWord } from "./misuse.ts";

describe("a command with wrong arguments", () => {
  it.each([
    [["--bogus"], "unknown option --bogus"],
    [["-x"], "unknown option -x"],
    [["--payload"], "--payload needs a value"],
    [["-p"], "--payload needs a value"],
    [["--payload", "--watch"], "--payload needs a value"],
    [["--watch=yes"], "--watch takes no value"],
    [["here"], 'unexpected argument "here"'],
  ])("such as %j fails with the problem", (args, problem) => {
    const options = { payload: { type: "string", short: "p" }, watch: { type: "boolean", short: "w" } } as const;

    expect(misuseIn(caught(() => parseArgs({ args, options })))).toBe(problem);
  });

  it("fails with the argument that is missing or unexpected", () => {
    expect(onlyWord(["rr-1"], "which incident")).toBe("rr-1");
    expect(misuseIn(caught(() => onlyWord([], "which incident")))).toBe("missing argument: which incident");
    expect(misuseIn(caught(() => onlyWord(["a", "b", "c"], "which")))).toBe('unexpected argument "b c"');
  });

  it("is asked for a reason, which has to say something", () => {
    expect(givenReason({ reason: " looked at it " })).toBe("looked at it");
    expect(caught(() => givenReason({ reason: " " }))).toBeInstanceOf(MisuseError);
  });

  it("is not what every error is about", () => {
    expect(misuseIn(new Error("the disk is full"))).toBeUndefined();
    expect(misuseIn("the disk is full")).toBeUndefined();
  });
});

function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
