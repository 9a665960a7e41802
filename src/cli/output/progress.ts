import { toPrintable } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";

/** Shows the progress of a long operation. */
export interface Progress {
  /** Replaces the text that is shown. */
  show(text: string): void;
  /** Removes the text. */
  clear(): void;
  /** Prints something else, above the text. */
  print(write: () => void): void;
  /** Hides the text until the returned function is called. */
  hide(): () => void;
}

/** A terminal is redrawn at most this often, so that the text can be read. */
const redrawMs = 100;
/** Between two lines of a log. */
const plainLineMs = 5_000;

/** On a terminal a single line that is updated; elsewhere a line every few seconds. */
export function openProgress(screen: Screen, clock: Pick<Clock, "now">): Progress {
  return screen.isTerminal ? liveLine(screen, clock) : plainLines(screen, clock);
}

const clearLine = "\r\u001b[2K";

function liveLine({ write, columns = () => 80 }: Screen, { now }: Pick<Clock, "now">): Progress {
  let shown = "";
  let drawnAt = Number.NEGATIVE_INFINITY;
  let isHidden = false;
  // A line that is as wide as the screen would continue on a second one, which is not cleared.
  const draw = () => write(`${clearLine}${toPrintable(shown).slice(0, Math.max(0, columns() - 1))}`);
  return {
    show(text) {
      if (text === shown) return;
      shown = text;
      if (isHidden || now() - drawnAt < redrawMs) return;
      drawnAt = now();
      draw();
    },
    clear() {
      if (shown !== "" && !isHidden) write(clearLine);
      shown = "";
      drawnAt = Number.NEGATIVE_INFINITY;
    },
    print(writeOther) {
      if (shown === "" || isHidden) return writeOther();
      write(clearLine);
      writeOther();
      draw();
    },
    hide() {
      if (shown !== "") write(clearLine);
      isHidden = true;
      return () => {
        isHidden = false;
      };
    },
  };
}

function plainLines({ write }: Screen, { now }: Pick<Clock, "now">): Progress {
  let printedAt = now();
  let printed = "";
  return {
    show(text) {
      if (text === printed || now() - printedAt < plainLineMs) return;
      printedAt = now();
      printed = text;
      write(`${toPrintable(text)}\n`);
    },
    clear() {},
    print: (writeOther) => writeOther(),
    hide: () => () => {},
  };
}

/** For commands whose output is for programs, and for `--quiet`. */
export const noProgress: Progress = { show() {}, clear() {}, print: (write) => write(), hide: () => () => {} };

/** Where text is written: a terminal, a file or a pipe. */
export interface Screen {
  write(text: string): void;
  /** Whether this is a terminal, which interprets escapes. */
  readonly isTerminal: boolean;
  readonly hasColours: boolean;
  /** The width of the terminal; 80 if it is not known. */
  readonly columns?: () => number;
}
