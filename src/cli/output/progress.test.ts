import { describe, expect, it } from "vitest";
import { openProgress, type Screen } from "./progress.ts";
import { printTo } from "./terminal.ts";

const clear = "\r\u001b[2K";

describe("progress on a terminal", () => {
  it("is one line, in which a new text replaces the old one", () => {
    const { progress, written, pass } = open({ isTerminal: true });

    progress.show("1 of 3");
    pass(1_000);
    progress.show("2 of 3");

    expect(written()).toBe(`${clear}1 of 3${clear}2 of 3`);
  });

  it("is not redrawn too often to be read", () => {
    const { progress, written, pass } = open({ isTerminal: true });

    for (let i = 1; i <= 50; i++) {
      progress.show(`${i} of 50`);
      pass(10);
    }

    expect(written().split(clear).slice(1)).toEqual(["1 of 50", "11 of 50", "21 of 50", "31 of 50", "41 of 50"]);
  });

  it("is cleared for other output, and redrawn below it", () => {
    const { progress, terminal, written } = open({ isTerminal: true });

    progress.show("1 of 3");
    terminal.print("a line");
    terminal.printError("a problem");

    expect(written()).toBe(`${clear}1 of 3${clear}a line\n${clear}1 of 3${clear}a problem\n${clear}1 of 3`);
  });

  it("is cleared at the end", () => {
    const { progress, terminal, written } = open({ isTerminal: true });

    progress.show("1 of 3");
    progress.clear();
    terminal.print("done");

    expect(written()).toBe(`${clear}1 of 3${clear}done\n`);
  });

  it("does not overwrite an open question", () => {
    const { progress, terminal, written, pass } = open({ isTerminal: true });

    progress.show("1 of 3");
    const showAgain = progress.hide();
    terminal.print("cancel?");
    pass(1_000);
    progress.show("2 of 3");
    showAgain();
    pass(1_000);
    progress.show("3 of 3");

    expect(written()).toBe(`${clear}1 of 3${clear}cancel?\n${clear}3 of 3`);
  });

  it("is cut to the width of the terminal, without escapes of external text", () => {
    const { progress, written } = open({ isTerminal: true, columns: () => 10 });

    progress.show("\u001b[2Jabcdefghijk");

    expect(written()).toBe(`${clear}${String.raw`\u001b[2Jabcdefghijk`.slice(0, 9)}`);
  });
});

describe("progress in a file or pipe", () => {
  it("is a line every few seconds, without escapes", () => {
    const { progress, terminal, written, pass } = open({ isTerminal: false });

    for (let i = 1; i <= 12; i++) {
      pass(1_000);
      progress.show(`${i} of 12`);
    }
    terminal.print("done");
    progress.clear();

    expect(written()).toBe("5 of 12\n10 of 12\ndone\n");
  });

  it("is not repeated while nothing happens", () => {
    const { progress, written, pass } = open({ isTerminal: false });

    for (let i = 1; i <= 20; i++) {
      pass(1_000);
      progress.show("waiting");
    }

    expect(written()).toBe("waiting\n");
  });
});

function open(screen: Pick<Screen, "isTerminal"> & Partial<Screen>) {
  let text = "";
  let nowMs = 0;
  const write = (more: string) => {
    text += more;
  };
  const whole: Screen = { write, hasColours: false, columns: () => 80, ...screen };
  const progress = openProgress(whole, { now: () => nowMs });
  return {
    progress,
    terminal: printTo(whole, whole, progress),
    written: () => text,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}
