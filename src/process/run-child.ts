import { type ChildProcess, spawn } from "node:child_process";
import { type Clock, sleep } from "../time/index.ts";

export interface ChildCommand {
  /** The program and its arguments; no shell interprets them. */
  readonly argv: readonly string[];
  /** Its whole environment. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  /** The limit of both outputs together; the group is killed when they exceed it. */
  readonly maxOutputBytes: number;
  /** Kills the group when it aborts. */
  readonly signal?: AbortSignal;
  /** Gives the child descriptor 3, to which it writes when its set-up is done and the command proper begins. */
  readonly signalsReady?: boolean;
  readonly stragglers?: Stragglers;
}

/** How to handle processes that leave the group. Without it, they can hold the output open for as long as they run. */
export interface Stragglers {
  /** Called when the child has exited; resolves when all of them have ended. */
  readonly end: () => Promise<void>;
  readonly clock: Clock;
}

export interface ChildExit {
  /** The exit code. Undefined: `failure` is why there is none. */
  readonly code: number | undefined;
  /** The name of the signal or of the error that ended the child. */
  readonly failure: string | undefined;
  readonly stdout: Buffer;
  /** The end of it, at most 64 KiB. */
  readonly stderr: string;
  /** There was more output than `maxOutputBytes`. */
  readonly truncated: boolean;
  /** The child wrote to descriptor 3. */
  readonly isReady: boolean;
}

const maxStderrChars = 64 * 1024;
/** A process that survives even `stragglers.end` can keep the output open; it is read for this much longer. */
const drainMs = 1_000;

/**
 * Runs a program in a session, and so in a process group, of its own. The whole group is killed when the child exits,
 * when the signal aborts and when there is too much output; the result is returned in all of these cases.
 */
export async function runChild(command: ChildCommand): Promise<ChildExit> {
  const { argv, env, cwd, input, signal, stragglers } = command;
  const [program = "", ...args] = argv;
  const stdio = Array.from({ length: command.signalsReady ? 4 : 3 }, () => "pipe" as const);
  const child = spawn(program, args, { detached: true, stdio, ...(env && { env }), ...(cwd && { cwd }) });
  // First of all: an error without a listener ends this process.
  const exited = waitForExit(child);
  const output = collectOutput(child, command.maxOutputBytes);
  // A child that exits without reading its input reports the reason by other means.
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);

  const kill = () => killGroup(child);
  signal?.addEventListener("abort", kill, { once: true });
  if (signal?.aborted) kill();
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const exit = await exited;
  if (child.pid !== undefined) {
    // A helper that the child left behind would hold its pipes open.
    kill();
    await stragglers?.end();
    const waits = stragglers ? [sleep(stragglers.clock, drainMs, undefined, { background: true })] : [];
    await Promise.race([closed, ...waits]);
  }
  signal?.removeEventListener("abort", kill);
  for (const stream of openStreams(child)) stream?.destroy();
  const { stdout, ...rest } = output;
  return { ...exit, ...rest, stdout: Buffer.concat(stdout) };
}

/** Sends a signal to a process, or to a process group if the number is negative. Does nothing if it has ended. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function killGroup({ pid }: ChildProcess) {
  if (pid === undefined) return;
  try {
    sendSignal(-pid, "SIGKILL");
  } catch {
    // macOS refuses signals to a group of which only zombies are left.
  }
}

/** Without a free file descriptor, Node returns a child that has no streams at all. */
function openStreams({ stdio }: { readonly stdio?: ChildProcess["stdio"] }) {
  return stdio ?? [];
}

function waitForExit(child: ChildProcess): Promise<Pick<ChildExit, "code" | "failure">> {
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => resolve({ code: undefined, failure: error.code ?? "error" }));
    child.once("exit", (code, name) => resolve({ code: code ?? undefined, failure: name ?? undefined }));
  });
}

interface CollectedOutput {
  readonly stdout: Buffer[];
  stderr: string;
  truncated: boolean;
  isReady: boolean;
}

function collectOutput(child: ChildProcess, maxBytes: number): CollectedOutput {
  const output: CollectedOutput = { stdout: [], stderr: "", truncated: false, isReady: false };
  let length = 0;
  const fits = (bytes: number) => {
    length += bytes;
    if (length <= maxBytes) return true;
    output.truncated = true;
    killGroup(child);
    return false;
  };
  child.stdout?.on("data", (data: Buffer) => {
    if (fits(data.length)) output.stdout.push(data);
  });
  child.stderr?.setEncoding("utf8").on("data", (data: string) => {
    if (fits(Buffer.byteLength(data))) output.stderr = (output.stderr + data).slice(-maxStderrChars);
  });
  openStreams(child)[3]?.on("data" as never, () => {
    output.isReady = true;
  });
  return output;
}

/** A child process could not be started, did not finish, or could not be ended. */
export class ProcessError extends Error {
  override readonly name = "ProcessError";
}
