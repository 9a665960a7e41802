import { type ChildProcess, spawn } from "node:child_process";
import { CoordinationError } from "../errors.ts";

export type GitEnvironment = Readonly<Record<string, string | undefined>>;

/** Runs git, and gives its output as it is. Rejects with the signal's reason when it aborts; by then git has ended. */
export type GitProcess = (args: readonly string[], options: GitProcessOptions) => Promise<GitOutput>;

export interface GitProcessOptions {
  readonly cwd: string;
  readonly input?: string | Uint8Array;
  /** On top of the environment that all runs have. */
  readonly env?: GitEnvironment;
  /** The most that is read of its output; git is ended when there is more. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

export interface GitOutput {
  readonly code: number;
  readonly stdout: Buffer;
  /** Without credentials, and not more than its last part. */
  readonly stderr: string;
  /** There was more than `maxBytes`. */
  readonly truncated: boolean;
}

// Set inside hooks and the like, they would send git to another repository than the one in `cwd`.
const elsewhere = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_COMMON_DIR",
  "GIT_NAMESPACE",
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_QUARANTINE_PATH",
  "GIT_PREFIX",
];
const defaultMaxBytes = 16 * 1024 * 1024;
const maxComplaint = 64 * 1024;

/** The git on this machine, each run in a process group of its own: git has helpers, and they end with it. */
export function gitProcess(env: GitEnvironment): GitProcess {
  const quiet = { GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
  const common = { ...env, ...Object.fromEntries(elsewhere.map((name) => [name, undefined])), ...quiet };

  return async (args, { cwd, input, env: more, maxBytes = defaultMaxBytes, signal }) => {
    signal?.throwIfAborted();
    const child = spawn("git", [...args], { cwd, env: { ...common, ...more }, detached: true });
    // A git that ends without reading its input has said why by other means.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const output = keep(child, maxBytes);
    const code = await ended(child, signal);
    signal?.throwIfAborted();
    // The command alone: its arguments may be long, and what git printed may hold a secret.
    if (typeof code === "string" && !output.truncated) {
      throw new CoordinationError("unavailable", `git ${args[0]} did not finish: ${code}`);
    }
    return {
      code: typeof code === "number" ? code : -1,
      stdout: Buffer.concat(output.stdout),
      stderr: redacted(output.stderr),
      truncated: output.truncated,
    };
  };
}

interface Kept {
  readonly stdout: Buffer[];
  stderr: string;
  truncated: boolean;
}

function keep(child: ChildProcess, maxBytes: number): Kept {
  const kept: Kept = { stdout: [], stderr: "", truncated: false };
  let length = 0;
  child.stdout?.on("data", (data: Buffer) => {
    length += data.length;
    if (length <= maxBytes) {
      kept.stdout.push(data);
    } else {
      kept.truncated = true;
      kill(child);
    }
  });
  child.stderr?.setEncoding("utf8").on("data", (data: string) => {
    kept.stderr = (kept.stderr + data).slice(-maxComplaint);
  });
  return kept;
}

/** Its exit code; or the signal, or the error, that kept it from having one. */
function ended(child: ChildProcess, signal: AbortSignal | undefined): Promise<number | string> {
  return new Promise((resolve) => {
    const stop = () => kill(child);
    const settle = (code: number | string) => {
      signal?.removeEventListener("abort", stop);
      resolve(code);
    };
    child.once("error", (error: NodeJS.ErrnoException) => settle(error.code ?? "error"));
    // A helper that git left behind would hold its pipes open.
    child.once("exit", () => kill(child));
    child.once("close", (code, killedBy) => settle(code ?? killedBy ?? "error"));
    signal?.addEventListener("abort", stop, { once: true });
  });
}

function kill({ pid }: ChildProcess) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing of the group is left.
  }
}

/** Without what stands before the @ of a URL. */
function redacted(text: string): string {
  return text.replace(/(\w:\/\/)[^/\s@]*(?:@[^/\s@]*)*@/g, "$1***@");
}
