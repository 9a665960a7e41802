import type { LogLine, LogProblem } from "../../../src/console/wire.ts";
import { ApiError, parseJson } from "../api.ts";
import { readEvents } from "./events.ts";
import { type ReconnectOptions, reconnect } from "./reconnect.ts";

/** The output of an execution as far as it has arrived. */
export interface Output {
  readonly lines: readonly LogLine[];
  /** "failed": it cannot be read, and a retry would not help. */
  readonly state: "open" | "interrupted" | "ended" | "failed";
  readonly problem?: string | undefined;
}

export interface OutputOptions extends ReconnectOptions {
  /** Opens the stream of lines, from the first one or the last `maxLines` of each step. */
  readonly open: () => Promise<ReadableStream<Uint8Array>>;
  readonly show: (output: Output) => void;
}

/** Older lines are left out; the command line prints all. */
export const maxLines = 2_000;
/** Lines that arrive together are shown together. */
const showMs = 150;
/** After an interruption all lines arrive again. The shown lines stay until then, so that the page does not jump. */
const catchUpMs = 1_000;

export const emptyOutput: Output = { lines: [], state: "open" };

/**
 * Shows the output until it is complete or `signal` aborts. A stream that was interrupted is read again from its start and
 * replaces the lines that are shown: no line is lost or doubled.
 */
export async function followOutput({ open, show, ...options }: OutputOptions): Promise<void> {
  let shown = emptyOutput;
  const update = (output: Output) => {
    shown = output;
    if (!options.signal.aborted) show(output);
  };
  await reconnect(async (received) => {
    try {
      const body = await open();
      if (shown.state === "interrupted") update({ lines: shown.lines, state: "open" });
      if (await showLines(body, { before: shown.lines, update, received })) return "done";
    } catch (error) {
      if (error instanceof ApiError && !error.isTemporary) {
        update({ lines: shown.lines, state: "failed", problem: error.message });
        return "done";
      }
    }
    update({ ...shown, state: "interrupted" });
    return "interrupted";
  }, options);
}

interface Connection {
  /** The lines of an earlier connection. */
  readonly before: readonly LogLine[];
  readonly update: (output: Output) => void;
  readonly received: () => void;
}

/** Shows the lines of one connection in place of those before. Returns whether the output is complete. */
async function showLines(body: ReadableStream<Uint8Array>, { before, update, received }: Connection): Promise<boolean> {
  let lines: LogLine[] = [];
  let problem: string | undefined;
  let isCatchingUp = before.length > 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const showNow = (state: Output["state"] = "open") => {
    clearTimeout(timer);
    timer = undefined;
    isCatchingUp = false;
    lines = lines.slice(-maxLines);
    update({ lines: [...lines], state, problem });
  };
  try {
    for await (const { type, data } of readEvents(body)) {
      if (type === "end") {
        showNow("ended");
        return true;
      }
      if (type === "line") {
        received();
        lines.push(parseJson(data));
      } else if (type === "problem") problem = parseJson<LogProblem>(data).message;
      timer ??= setTimeout(showNow, isCatchingUp ? catchUpMs : showMs);
    }
  } finally {
    // A connection that breaks before it has caught up does not change the shown lines.
    if (timer !== undefined && !isCatchingUp) showNow();
    clearTimeout(timer);
  }
  return false;
}
