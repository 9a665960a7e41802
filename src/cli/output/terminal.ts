import { toPrintable } from "../../telemetry/index.ts";
import { noProgress, type Progress, type Screen } from "./progress.ts";

/** The meaning of a text, which a terminal shows as a colour. */
export type Tone = "good" | "bad" | "warning" | "active" | "heading";

/** A part of a line. */
export type Span = string | { readonly text: string; readonly tone: Tone };

/** One line of output, as a whole or in parts. */
export type Line = string | readonly Span[];

/** The input and output of a command. */
export interface Terminal {
  /**
   * Prints one line. The line may contain text from outside: a newline or escape in it is printed as `\n` or `\u001b`, so
   * that it cannot look like a second line. A caller with several lines calls it several times.
   */
  print(line: Line): void;
  /** The same on standard error: for problems that must not end up in the output. */
  printError(line: Line): void;
  /** Prints the output of a program: unchanged to a file or pipe, without escapes on a terminal. */
  printOutput(text: string): void;
  /** How many columns the terminal has; absent if the output is a file or a pipe. */
  readonly width?: () => number;
  /** Shows the progress of a long operation. */
  readonly progress: Progress;
  /** Asks the operator at the terminal; undefined if `signal` aborts first. Absent without a terminal. */
  readonly ask?: (question: string, signal: AbortSignal) => Promise<string | undefined>;
  /** The user name on this machine. */
  readonly user: string;
}

type Env = Readonly<Record<string, string | undefined>>;

export function toScreen(stream: NodeJS.WriteStream, env: Env): Screen {
  const isTerminal = stream.isTTY === true;
  const columns = () => stream.columns ?? 80;
  return { write: (text) => void stream.write(text), isTerminal, hasColours: hasColours(isTerminal, env), columns };
}

/**
 * Colours on a terminal that can show them, unless `NO_COLOR` is set. `FORCE_COLOR` decides in all cases, as in Node and npm:
 * `0` or `false` for no colours, any other text for colours, in a pipe too.
 */
export function hasColours(isTerminal: boolean, env: Env): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced) return forced !== "0" && forced !== "false";
  return isTerminal && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}

/** The codes that select a colour or bold text, for each tone. */
const codes: Readonly<Record<Tone, number>> = { good: 32, bad: 31, warning: 33, active: 36, heading: 1 };

/** The output of commands: all their text passes through here. */
export function printTo(
  output: Screen,
  errors: Screen,
  progress: Progress = noProgress,
): Pick<Terminal, "print" | "printError" | "printOutput" | "width" | "progress"> {
  const [printLine, printErrorLine] = [linePrinter(output), linePrinter(errors)];
  return {
    print: (line) => progress.print(() => printLine(line)),
    printError: (line) => progress.print(() => printErrorLine(line)),
    printOutput(text) {
      const whole = text.endsWith("\n") ? text : `${text}\n`;
      progress.print(() => output.write(output.isTerminal ? toPrintableLines(whole) : whole));
    },
    ...(output.isTerminal ? { width: output.columns } : {}),
    progress,
  };
}

/** Prints lines to one screen. */
export function linePrinter({ write, hasColours }: Screen): (line: Line) => void {
  /** Escapes in the text are removed first, so that only those added here reach the terminal. */
  function toText(span: Span): string {
    if (typeof span === "string") return toPrintable(span);
    const text = toPrintable(span.text);
    return hasColours ? `\u001b[${codes[span.tone]}m${text}\u001b[0m` : text;
  }
  return (line) => write(`${(typeof line === "string" ? [line] : line).map(toText).join("")}\n`);
}

/** Removes colours. Every other escape may be harmful, and is printed as text. */
function toPrintableLines(text: string): string {
  const lines = text.replace(colour, "").split(/\r?\n/);
  return lines.map((line) => line.split("\t").map(toPrintable).join("\t")).join("\n");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequence that sets a colour begins with a control character.
const colour = /\u001b\[[0-9;]*m/g;

/** Data as JSON. A string in JSON has no newline, so every line break is part of the format. */
export function jsonLines(data: unknown): readonly string[] {
  return JSON.stringify(data, null, 2).split("\n");
}
