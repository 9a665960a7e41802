import { type Clock, timeLimit } from "../../time/index.ts";
import { ProcessError } from "../run-child.ts";
import { type Git, type GitEnvironment, systemGit } from "./system-git.ts";

export interface HardenedGitOptions {
  /** Of this process. Git gets the locations of programs, proxies and certificates from it, and nothing else. */
  readonly env: GitEnvironment;
  /** A folder without settings: git and curl look for theirs in the home directory. */
  readonly home: string;
  /** The protocols that git may use. */
  readonly protocols: readonly ("https" | "http" | "file")[];
  readonly clock: Clock;
  /** How long one run may take. */
  readonly timeLimitMs: number;
}

const inherited = [
  ..."PATH TMPDIR SSL_CERT_FILE SSL_CERT_DIR GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_EXEC_PATH".split(" "),
  ..."http_proxy https_proxy no_proxy all_proxy HTTPS_PROXY NO_PROXY ALL_PROXY".split(" "),
];

/** Passed by environment, these override every settings file of the repository, the work tree and the machine. */
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
  // Larger files are not diffed and not loaded into memory.
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

/** Git that applies no settings but ours and ends within the time limit. */
export function hardenedGit(options: HardenedGitOptions): Git {
  const git = systemGit(environment(options));
  return async (args, run) => {
    using limit = timeLimit(options.clock, options.timeLimitMs, run.signal);
    try {
      return await git(args, { ...run, signal: limit.signal });
    } catch (error) {
      run.signal?.throwIfAborted();
      if (!limit.signal.aborted) throw error;
      throw new ProcessError(`git ${args[0]} did not finish within ${options.timeLimitMs / 1_000} s`);
    }
  };
}

/** Our settings and those of one run, as environment variables: arguments would appear in the process list. */
export function gitSettings(
  protocols: HardenedGitOptions["protocols"],
  more: readonly (readonly [string, string])[] = [],
): Record<string, string> {
  const allowed = protocols.map((name) => [`protocol.${name}.allow`, "always"] as const);
  const pairs = [...settings, ...allowed, ...more];
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(pairs.length) };
  for (const [i, [key, value]] of pairs.entries()) {
    env[`GIT_CONFIG_KEY_${i}`] = key;
    env[`GIT_CONFIG_VALUE_${i}`] = value;
  }
  return env;
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
    ...gitSettings(protocols),
  };
}
