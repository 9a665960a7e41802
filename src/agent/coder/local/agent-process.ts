import { type ChildProcess, spawn } from "node:child_process";
import { type Clock, sleep } from "../../../time/index.ts";

/** How the agent is run, and when it has to end. */
export interface AgentRun {
  readonly argv: readonly string[];
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  readonly timeoutMs: number;
  /** Of both outputs together. */
  readonly maxOutputBytes: number;
  /** Why its files are too many or too large, if they are. */
  readonly oversize: () => Promise<string | undefined>;
  /** Ends every process that the agent has left behind. */
  readonly endAll: () => Promise<void>;
  readonly clock: Clock;
}

export type AgentEnd =
  | { readonly how: "exited"; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly how: "not-started"; readonly message: string }
  | {
      readonly how: "ended";
      readonly why: "Timeout" | "OutputTooLarge" | "WorkTreeTooLarge";
      readonly message: string;
    };

/**
 * Runs the agent to its end, or ends it when it goes beyond a limit or the signal aborts. Nothing of it is alive when
 * this returns or rejects.
 */
export async function runAgent(run: AgentRun, signal: AbortSignal): Promise<AgentEnd> {
  signal.throwIfAborted();
  const over = new AbortController();
  let verdict: AgentEnd | undefined;
  const end = (why: (AgentEnd & { how: "ended" })["why"], message: string) => {
    verdict ??= { how: "ended", why, message };
    over.abort();
  };
  const [program = "", ...args] = run.argv;
  // In a session, and so in a process group, of its own.
  const child = spawn(program, args, { env: { ...run.env }, detached: true, stdio: ["pipe", "pipe", "pipe", "pipe"] });
  const kill = () => killGroup(child);
  const stops = AbortSignal.any([signal, over.signal]);
  stops.addEventListener("abort", kill, { once: true });
  const seconds = Math.round(run.timeoutMs / 1_000);
  const timer = run.clock.after(run.timeoutMs, () => end("Timeout", `it was not done within ${seconds} s`));
  const output = new Output(child, run.maxOutputBytes, () =>
    end("OutputTooLarge", `it wrote more than ${run.maxOutputBytes} bytes`),
  );
  const watching = watch(run, stops, (message) => end("WorkTreeTooLarge", message));
  child.stdin?.on("error", () => {}); // It need not read what it is asked.
  child.stdin?.end(run.input);
  const closed = await closing(child, run);
  timer.cancel();
  stops.removeEventListener("abort", kill);
  over.abort();
  await watching;
  signal.throwIfAborted();
  return verdict ?? output.endOf(closed);
}

interface Closed {
  readonly code: number;
  readonly error?: Error;
}

/** Whoever outlives all this and keeps the output open is not waited for longer. */
const patienceMs = 1_000;

/** When it has ended, with all that it left behind, and everything that it said was read. */
async function closing(child: ChildProcess, { endAll, clock }: AgentRun): Promise<Closed> {
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const end = await new Promise<Closed>((resolve) => {
    child.once("error", (error) => resolve({ code: 127, error }));
    child.once("exit", (code) => resolve({ code: code ?? 137 }));
  });
  if (end.error) return end;
  killGroup(child);
  await endAll();
  await Promise.race([closed, sleep(clock, patienceMs, undefined, { background: true })]);
  for (const stream of child.stdio) stream?.destroy();
  return end;
}

function killGroup({ pid }: ChildProcess) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

class Output {
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];
  #ready = false;

  constructor({ stdout, stderr, stdio }: ChildProcess, maxBytes: number, full: () => void) {
    let left = maxBytes;
    for (const [stream, kept] of [
      [stdout, this.#stdout],
      [stderr, this.#stderr],
    ] as const) {
      stream?.on("data", (data: Buffer) => {
        left -= data.length;
        if (left >= 0) kept.push(data);
        else full();
      });
    }
    stdio[3]?.on("data" as never, () => {
      this.#ready = true;
    });
  }

  endOf({ code, error }: Closed): AgentEnd {
    const stderr = Buffer.concat(this.#stderr).toString();
    if (error) return { how: "not-started", message: error.message };
    // What a shell says of a program that is not there, or is none.
    if (!this.#ready || code === 126 || code === 127) return { how: "not-started", message: stderr.trim() };
    return { how: "exited", code, stdout: Buffer.concat(this.#stdout).toString(), stderr };
  }
}

/** Between one look at its files and the next; and never more than a small share of the time is spent on looking. */
const lookMs = 500;

async function watch({ oversize, clock }: AgentRun, stop: AbortSignal, tooLarge: (message: string) => void) {
  while (!stop.aborted) {
    const before = clock.now();
    const message = await oversize();
    if (message !== undefined) return tooLarge(message);
    const wait = Math.max(lookMs, 10 * (clock.now() - before));
    await sleep(clock, wait, stop, { background: true }).catch(() => {});
  }
}
