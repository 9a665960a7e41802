import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CommandError, errorLines } from "../command.ts";
import { hasColours, jsonLines, printTo } from "./terminal.ts";

const hostile = "a\u001b]0;x\u0007\u009b2J\u202e\r\nFORGED";

describe("a terminal", () => {
  it("prints one line, even if the text has newlines or escapes", () => {
    expect(printed(true).print(hostile)).toBe(`${String.raw`a\u001b]0;x\u0007\u009b2J\u202e\r\nFORGED`}\n`);
    expect(printed(false).print(hostile)).toBe(printed(true).print(hostile));
  });

  it.each([
    ["lines and tabs stay", "a\tb\nc\r\nd\n", "a\tb\nc\nd\n"],
    ["a line end is added", "a", "a\n"],
    ["colours are left out", "\u001b[1;31mred\u001b[0m\n", "red\n"],
    ["other escapes are shown", "\u001b]0;x\u0007\u001b[2J\n", `${String.raw`\u001b]0;x\u0007\u001b[2J`}\n`],
    ["a carriage return is shown", "50 %\r100 %\n", `${String.raw`50 %\r100 %`}\n`],
    ["C1 and direction overrides are shown", "\u009b2J\u202e\n", `${String.raw`\u009b2J\u202e`}\n`],
  ])("prints the output of a program without its escapes: %s", (_what, output, expected) => {
    expect(printed(true).printOutput(output)).toBe(expected);
  });

  it("writes the output of a program unchanged to a file or pipe", () => {
    expect(printed(false).printOutput(`${hostile}\n`)).toBe(`${hostile}\n`);
  });

  it("prints JSON that means the same", () => {
    const lines = jsonLines({ [hostile]: [hostile] }).map((line) => printed(true).print(line));

    expect(JSON.parse(lines.join(""))).toEqual({ [hostile]: [hostile] });
    expect(lines.join("")).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });

  it("prints an error with external text without additional lines", () => {
    const error = new CommandError(`there is no ${hostile}`, [`see ${hostile}`]);

    expect(errorLines(error)).toHaveLength(2);
    expect(errorLines(new Error(hostile))).toEqual([`error: ${hostile}`]);
  });
});

describe("colours", () => {
  const red = "\u001b[31m";

  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: "1" }, false],
    [true, { NO_COLOR: "" }, true],
    [true, { TERM: "dumb" }, false],
    [false, { FORCE_COLOR: "1" }, true],
    [true, { FORCE_COLOR: "0" }, false],
    [true, { FORCE_COLOR: "false" }, false],
    [false, { FORCE_COLOR: "1", NO_COLOR: "1" }, true],
    [true, { FORCE_COLOR: "", NO_COLOR: "1" }, false],
  ])("on a terminal: %j, with %j: %j", (isTerminal, env, expected) => {
    expect(hasColours(isTerminal, env)).toBe(expected);
  });

  it("surround the text that has a tone, and nothing else", () => {
    const line = ["worker-1  ", { text: "Failed", tone: "bad" }, "  now"] as const;

    expect(printed(true, true).print(line)).toBe(`worker-1  ${red}Failed\u001b[0m  now\n`);
    expect(printed(true, false).print(line)).toBe("worker-1  Failed  now\n");
  });

  it("cannot be set by the text itself", () => {
    const line = [{ text: `${red}Completed`, tone: "bad" } as const];

    expect(printed(true, true).print(line)).toBe(`${red}${String.raw`\u001b[31mCompleted`}\u001b[0m\n`);
  });
});

describe("the sources", () => {
  it("write to standard output and error in one place only", () => {
    const files = readdirSync("src", { recursive: true, encoding: "utf8" });
    const writers = files
      .filter((file) => file.endsWith(".ts") && !/\.(test|contract)\.ts$/.test(file))
      .filter((file) => /\bconsole\.\w+\(|\bprocess\.(stdout|stderr)\b/.test(readFileSync(join("src", file), "utf8")));

    // main.ts prints one constant sentence, where an old Node could not load the rest.
    expect(writers.sort()).toEqual(["cli/command-line.ts", "main.ts"]);
  });
});

function printed(isTerminal: boolean, hasColours = false) {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  const terminal = printTo({ write, isTerminal, hasColours }, { write, isTerminal, hasColours });
  const taken =
    <T>(print: (given: T) => void) =>
    (given: T) => {
      text = "";
      print(given);
      return text;
    };
  return { print: taken(terminal.print), printOutput: taken(terminal.printOutput) };
}
