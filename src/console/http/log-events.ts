import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { StepLine } from "../../engines/index.ts";
import { KubeError } from "../../kube/index.ts";
import type { Clock } from "../../time/index.ts";
import type { LogLine, LogProblem } from "../wire.ts";
import { type EventSource, eventText } from "./event-stream.ts";

/** Receives the output of an execution for one viewer. */
export interface LogOutput {
  /** Resolves when there is room for the next line. */
  readonly print: (line: StepLine) => Promise<void>;
  readonly problem: (message: string) => void;
  /** Aborts when the viewer is gone. */
  readonly signal: AbortSignal;
}

/** The size of the lines that a viewer has not read yet. More are read when there is room again. */
const maxWaitingBytes = 64 * 1_024;

/** An execution may write nothing for hours. With each beat the credentials of its viewer can be checked. */
const beatMs = 5_000;

/** A comment, which readers of Server-Sent Events skip. */
const beat = ":\n\n";

/** The events of an execution's output. `follow` writes it, and returns when it is complete. */
export function logEvents(follow: (output: LogOutput) => Promise<unknown>, clock: Clock): EventSource {
  return async function* (viewerGone) {
    const stop = new AbortController();
    const signal = AbortSignal.any([viewerGone, stop.signal]);
    const events = new PassThrough({ highWaterMark: maxWaitingBytes });
    // Every step that runs may wait for room.
    events.setMaxListeners(0);
    const send = (text: string) => signal.aborted || events.writableEnded || events.write(text);
    const finish = () => events.end();
    signal.addEventListener("abort", finish, { once: true });
    const print = async (line: StepLine) => {
      if (!send(eventText("line", toLogLine(line)))) await once(events, "drain", { signal }).catch(() => {});
    };
    const problem = (message: string) => void send(eventText("problem", { message } satisfies LogProblem));
    const following = follow({ print, problem, signal })
      .then(
        () => true,
        (error: unknown) => {
          const { message, isFinal } = readFailure(error);
          problem(message);
          return isFinal;
        },
      )
      // Without an end, the viewer opens the stream again.
      .then((isComplete) => isComplete && send(eventText("end", {})))
      .then(finish, (error: Error) => void events.destroy(error));
    const stopBeats = repeat(clock, beatMs, () => {
      if (!events.writableNeedDrain) send(beat);
    });
    try {
      yield* events as AsyncIterable<Buffer>;
    } finally {
      stopBeats();
      stop.abort();
      await following;
    }
  };
}

/** Attempts after the first one are numbered, as on the command line. */
function toLogLine({ task, attempt, step, text }: StepLine): LogLine {
  return { task, step: attempt > 1 ? `${step}#${attempt}` : step, text };
}

/** Rethrows any error but that of the API server, whose refusal names the user and the missing right for the caller. */
function readFailure(error: unknown): { readonly message: string; readonly isFinal: boolean } {
  if (!(error instanceof KubeError)) throw error;
  if (error.code === "forbidden") return { message: error.message, isFinal: true };
  return { message: "The API server does not respond.", isFinal: false };
}

/** Calls `action` at this interval. Returns a function that stops it. */
function repeat(clock: Clock, everyMs: number, action: () => void): () => void {
  let timer = clock.after(everyMs, tick);
  return () => timer.cancel();

  function tick() {
    action();
    timer = clock.after(everyMs, tick);
  }
}
