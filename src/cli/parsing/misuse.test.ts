import { parseArgs } from "node:util";
import { describe, expect, it } from "vitest";
import { givenReason, MisuseError, misuseIn, onlyWord } from "./misuse.ts";

describe("a command that is typed wrongly", () => {
  it.each([
    [["--bogus"], "there is no option --bogus"],
    [["-x"], "there is no option -x"],
    [["--payload"], "--payload wants a value"],
    [["-p"], "--payload wants a value"],
    [["--payload", "--watch"], "--payload wants a value"],
    [["--watch=yes"], "--watch takes no value"],
    [["here"], "'here' is too much"],
  ])("such as %j is told so in plain words", (args, problem) => {
    const options = { payload: { type: "string", short: "p" }, watch: { type: "boolean", short: "w" } } as const;

    expect(misuseIn(caught(() => parseArgs({ args, options })))).toBe(problem);
  });

  it("is told which word is missing, and which are too many", () => {
    expect(onlyWord(["rr-1"], "which incident")).toBe("rr-1");
    expect(misuseIn(caught(() => onlyWord([], "which incident")))).toBe("say which incident");
    expect(misuseIn(caught(() => onlyWord(["a", "b", "c"], "which")))).toBe("one at a time, please: after a came b c");
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
