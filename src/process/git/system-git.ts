import { ProcessError, runChild } from "../run-child.ts";

export type GitEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Port: runs git and returns its output. An exit code other than zero is a result. Rejects with the signal's reason when
 * it aborts; git has ended by then.
 */
export type Git = (args: readonly string[], options: GitOptions) => Promise<GitOutput>;

export interface GitOptions {
  readonly cwd: string;
  readonly input?: string | Uint8Array;
  /** Added to the environment that all runs have. */
  readonly env?: GitEnvironment;
  /** The limit of its output; git is killed when there is more. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

export interface GitOutput {
  /** -1 if git was killed because it printed more than `maxBytes`. */
  readonly code: number;
  readonly stdout: Buffer;
  /** The end of it, without credentials. */
  readonly stderr: string;
  /** There was more than `maxBytes`. */
  readonly truncated: boolean;
}

// Hooks and the like set these; they would redirect git to another repository than the one in `cwd`.
const redirects = [
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

/** The git of this machine. It never prompts for a password. Its helpers end with it. */
export function systemGit(env: GitEnvironment): Git {
  const quiet = { GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
  const common = { ...env, ...Object.fromEntries(redirects.map((name) => [name, undefined])), ...quiet };

  return async (args, { env: more, maxBytes = defaultMaxBytes, ...run }) => {
    run.signal?.throwIfAborted();
    const exit = await runChild({
      ...run,
      argv: ["git", ...args],
      env: { ...common, ...more },
      maxOutputBytes: maxBytes,
    });
    run.signal?.throwIfAborted();
    // Only the subcommand is named: its arguments can be long, and its output can contain a secret.
    if (exit.code === undefined && !exit.truncated) {
      throw new ProcessError(`git ${args[0]} did not finish: ${exit.failure}`);
    }
    const { stdout, truncated } = exit;
    return { code: exit.code ?? -1, stdout, stderr: withoutUserInfo(exit.stderr), truncated };
  };
}

/** Replaces everything before the @ of a URL. */
function withoutUserInfo(text: string): string {
  return text.replace(/(\w:\/\/)[^/\s@]*(?:@[^/\s@]*)*@/g, "$1***@");
}
