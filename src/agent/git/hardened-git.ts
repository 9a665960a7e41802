import type { GitEnvironment, GitOutput, GitProcess } from "../../coordination/index.ts";
import { CoordinationError, gitProcess } from "../../coordination/index.ts";
import type { Clock } from "../../time/index.ts";
import { RemoteError } from "../remote-error.ts";

export interface HardenedGitOptions {
  /** Of this process: of it git gets where programs, proxies and certificates are, and no more. */
  readonly env: GitEnvironment;
  /** A folder without settings in it: git and curl look for some in the home. */
  readonly home: string;
  /** What git may talk: `https` alone, if it can be. */
  readonly protocols: readonly ("https" | "http" | "file")[];
  readonly clock: Clock;
  /** The longest that one run may take. */
  readonly timeLimitMs: number;
}

const inherited = [
  ..."PATH TMPDIR SSL_CERT_FILE SSL_CERT_DIR GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_EXEC_PATH".split(" "),
  ..."http_proxy https_proxy no_proxy all_proxy HTTPS_PROXY NO_PROXY ALL_PROXY".split(" "),
];

/** Whatever a repository, a work tree or this machine says, these hold: given by environment, they are above every file. */
const settings: readonly (readonly [string, string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.untrackedCache", "false"],
  ["core.excludesFile", "/dev/null"],
  ["core.attributesFile", "/dev/null"],
  ["core.autocrlf", "false"],
  ["core.quotePath", "false"],
  ["core.fileMode", "true"],
  ["core.symlinks", "true"],
  ["core.protectNTFS", "true"],
  ["core.protectHFS", "true"],
  // Larger files are neither diffed nor kept in memory.
  ["core.bigFileThreshold", "32m"],
  ["core.askPass", ""],
  ["credential.helper", ""],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["push.recurseSubmodules", "no"],
  ["submodule.recurse", "false"],
  ["push.gpgSign", "false"],
  ["http.followRedirects", "false"],
  ["protocol.allow", "never"],
];

/**
 * Git that follows nobody's settings but ours, and ends within the time limit. A run that does not finish is
 * `unavailable`.
 */
export function hardenedGit(options: HardenedGitOptions): GitProcess {
  const git = gitProcess(environment(options));
  return async (args, run) => {
    using limit = timeLimit(options, run.signal);
    try {
      return await git(args, { ...run, signal: limit.signal });
    } catch (error) {
      run.signal?.throwIfAborted();
      if (limit.signal.aborted) throw new RemoteError("unavailable", tooSlow(args, options));
      if (error instanceof CoordinationError) throw new RemoteError("unavailable", error.message);
      throw error;
    }
  };
}

/** What git printed, if it went well. Otherwise something is wrong here, and not with a remote. */
export async function expectOutput(command: string, running: Promise<GitOutput>): Promise<Buffer> {
  const { code, stdout, stderr, truncated } = await running;
  if (truncated) throw new RemoteError("unavailable", `git ${command} printed too much`);
  if (code !== 0) throw new RemoteError("unavailable", `git ${command} failed: ${stderr.trim().slice(-2_000)}`);
  return stdout;
}

/** Settings as git takes them from its environment, where no process list shows them. */
function asEnvironment(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(pairs.length) };
  for (const [i, [key, value]] of pairs.entries()) {
    env[`GIT_CONFIG_KEY_${i}`] = key;
    env[`GIT_CONFIG_VALUE_${i}`] = value;
  }
  return env;
}

/** Our settings, and what only some runs have. */
export function settingsFor(
  protocols: HardenedGitOptions["protocols"],
  more: readonly (readonly [string, string])[] = [],
): Record<string, string> {
  const allowed = protocols.map((name) => [`protocol.${name}.allow`, "always"] as const);
  return asEnvironment([...settings, ...allowed, ...more]);
}

function environment({ env, home, protocols }: HardenedGitOptions): GitEnvironment {
  return {
    ...Object.fromEntries(inherited.map((name) => [name, env[name]])),
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_LITERAL_PATHSPECS: "1",
    ...settingsFor(protocols),
  };
}

function timeLimit({ clock, timeLimitMs }: HardenedGitOptions, caller: AbortSignal | undefined) {
  const late = new AbortController();
  const timer = clock.after(timeLimitMs, () => late.abort());
  return {
    signal: caller ? AbortSignal.any([caller, late.signal]) : late.signal,
    [Symbol.dispose]: () => timer.cancel(),
  };
}

function tooSlow(args: readonly string[], { timeLimitMs }: HardenedGitOptions): string {
  return `git ${args[0]} did not finish within ${timeLimitMs / 1_000} s`;
}
