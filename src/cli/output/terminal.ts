import { toPrintable } from "../../telemetry/index.ts";

/** What a command has besides its arguments. */
export interface Terminal {
  /**
   * Prints one line. The line may contain text from outside: a newline or escape in it is printed as `\n` or `\u001b`, so
   * that it cannot look like a second line. A caller with several lines calls it several times.
   */
  print(line: string): void;
  /** Prints the output of a program: exactly as it is to a file or pipe, without escapes on a terminal. */
  printOutput(text: string): void;
  /** Asks the person at the terminal; undefined if there is no answer until `signal`. Absent without a terminal. */
  readonly ask?: (question: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Letters and digits for a unique name. */
  id(): string;
  /** Who is at the keyboard, as far as the machine knows. */
  readonly user: string;
}

export interface Screen {
  write(text: string): void;
  /** A person looks at it, and escapes would be obeyed. */
  readonly isTerminal: boolean;
}

export function toScreen(stream: NodeJS.WriteStream): Screen {
  return { write: (text) => void stream.write(text), isTerminal: stream.isTTY === true };
}

/** The one place through which everything passes that commands print. */
export function printTo({ write, isTerminal }: Screen): Pick<Terminal, "print" | "printOutput"> {
  return {
    print: (line) => write(`${toPrintable(line)}\n`),
    printOutput(text) {
      const whole = text.endsWith("\n") ? text : `${text}\n`;
      write(isTerminal ? toPrintableLines(whole) : whole);
    },
  };
}

/** Colours are left out, as they mean nothing; every other escape is shown, as it may mean harm. */
function toPrintableLines(text: string): string {
  const lines = text.replace(colour, "").split(/\r?\n/);
  return lines.map((line) => line.split("\t").map(toPrintable).join("\t")).join("\n");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequence that sets a colour begins with a control character.
const colour = /\u001b\[[0-9;]*m/g;

/** Data for programs. JSON has no newline within a text, so its lines are lines of ours. */
export function jsonLines(data: unknown): readonly string[] {
  return JSON.stringify(data, null, 2).split("\n");
}
