import { CoordinationError } from "../errors.ts";
import type { Git } from "./git.ts";
import { type GitEnvironment, gitProcess } from "./git-process.ts";

/** The git on this machine, in `env`. It never asks for a password: credentials come from a helper, ssh, or nowhere. */
export function runGit(env: GitEnvironment): Git {
  const git = gitProcess(env);
  return async (args, options) => {
    const { code, stdout, stderr, truncated } = await git(args, options);
    if (truncated) throw new CoordinationError("unavailable", `git ${args[0]} did not finish: it printed too much`);
    return { code, stdout: stdout.toString(), stderr };
  };
}
