import { type Git, type GitOutput, type HardenedGitOptions, hardenedGit, ProcessError } from "../../process/index.ts";
import { RemoteError } from "../remote-error.ts";

/** Hardened git for the agent: a run that does not finish is an outage, which the agent retries. */
export function openGit(options: HardenedGitOptions): Git {
  const git = hardenedGit(options);
  return async (args, run) => {
    try {
      return await git(args, run);
    } catch (error) {
      throw error instanceof ProcessError ? new RemoteError("unavailable", error.message) : error;
    }
  };
}

/** The output of a local git command, whose failure is not the fault of a remote. */
export async function expectOutput(command: string, running: Promise<GitOutput>): Promise<Buffer> {
  const { code, stdout, stderr, truncated } = await running;
  if (truncated) throw new RemoteError("unavailable", `git ${command} printed more than the limit`);
  if (code !== 0) throw new RemoteError("unavailable", `git ${command} failed: ${stderr.trim().slice(-2_000)}`);
  return stdout;
}
