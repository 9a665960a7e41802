import { killAll, runChild } from "../../../process/index.ts";
import { type Clock, sleep } from "../../../time/index.ts";

/** One run of the coder, and its limits. */
export interface CoderRun {
  readonly argv: readonly string[];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  readonly timeoutMs: number;
  /** The limit of both outputs together. */
  readonly maxOutputBytes: number;
  /** Why its files are too many or too large; undefined if they are not. */
  readonly checkSize: () => Promise<string | undefined>;
  /** Finds the processes that the coder leaves behind; see `killAll`. */
  readonly folder: string;
  readonly mark: string | undefined;
  readonly clock: Clock;
}

export type CoderEnd =
  | { readonly how: "exited"; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly how: "not-started"; readonly message: string }
  | {
      readonly how: "ended";
      readonly why: "Timeout" | "OutputTooLarge" | "WorkTreeTooLarge";
      readonly message: string;
    };

/**
 * Runs the coder until it exits, exceeds a limit or the signal aborts. None of its processes is alive when this returns
 * or rejects.
 */
export async function runCoder(run: CoderRun, signal: AbortSignal): Promise<CoderEnd> {
  const { timeoutMs, maxOutputBytes, folder, mark, clock } = run;
  signal.throwIfAborted();
  const over = new AbortController();
  let exceeded: CoderEnd | undefined;
  const end = (why: "Timeout" | "WorkTreeTooLarge", message: string) => {
    exceeded ??= { how: "ended", why, message };
    over.abort();
  };
  const seconds = Math.round(timeoutMs / 1_000);
  const timer = clock.after(timeoutMs, () =>
    end("Timeout", `it did not finish within ${seconds} s, see agent.timeout`),
  );
  const stop = AbortSignal.any([signal, over.signal]);
  const watching = watchSize(run, stop, (message) => end("WorkTreeTooLarge", message));
  const stragglers = { end: () => killAll({ folder, mark, clock }), clock };
  try {
    const exit = await runChild({ ...run, signal: stop, signalsReady: true, stragglers });
    signal.throwIfAborted();
    if (exceeded) return exceeded;
    if (exit.truncated) {
      return {
        how: "ended",
        why: "OutputTooLarge",
        message: `it wrote more than ${maxOutputBytes} bytes, see agent.maxOutput`,
      };
    }
    return toEnd(exit);
  } finally {
    timer.cancel();
    over.abort();
    await watching;
  }
}

function toEnd({ code = 137, failure, isReady, stdout, stderr }: Awaited<ReturnType<typeof runChild>>): CoderEnd {
  // A shell returns 126 or 127 for a program that is missing or not executable.
  const hasStarted = isReady && code !== 126 && code !== 127;
  if (!hasStarted) return { how: "not-started", message: stderr.trim() || (failure ?? "") };
  return { how: "exited", code, stdout: stdout.toString(), stderr };
}

/** The time between two checks; long checks are made less often, so that they take a small share of the time. */
const checkMs = 500;

async function watchSize({ checkSize, clock }: CoderRun, stop: AbortSignal, tooLarge: (message: string) => void) {
  while (!stop.aborted) {
    const before = clock.now();
    const message = await checkSize();
    if (message !== undefined) return tooLarge(message);
    const wait = Math.max(checkMs, 10 * (clock.now() - before));
    await sleep(clock, wait, stop, { background: true }).catch(() => {});
  }
}
