import { gitWorkshop, type Repository } from "../../src/agent/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { clock } from "../executor/workbench.ts";
import { machineMs } from "../locks/machine-time.ts";

export interface Commit {
  readonly iid: number;
  readonly branch: string;
  readonly sha: string;
}

/** Runs the git commands of the agent before the coder starts, and nothing else; returns the time that they took. */
export async function gitAlone(directory: string, { url, token }: { readonly url: string; readonly token: string }) {
  const workshop = await gitWorkshop({
    directory,
    server: { origin: new URL(url).origin, token: async () => token },
    timeLimitMs: 60_000,
    env: { PATH: process.env["PATH"] },
    clock,
    random: systemRandom(),
    log: silentLogger,
  });
  const { signal } = new AbortController();

  async function checkout(repository: Repository, sha: string, startedAt: number): Promise<number> {
    await using _tree = await workshop.checkout(repository, sha, signal);
    return machineMs() - startedAt;
  }
  return {
    async forReview(repository: Repository, { iid, sha }: Commit): Promise<number> {
      const startedAt = machineMs();
      await workshop.fetchCommit(repository, sha, `refs/merge-requests/${iid}/head`, signal);
      return checkout(repository, sha, startedAt);
    },
    /** The review before it has fetched the commit. */
    async forCommand(repository: Repository, { branch, sha }: Commit): Promise<number> {
      const startedAt = machineMs();
      await workshop.branchHead(repository, branch, signal);
      await workshop.fetchCommit(repository, sha, `refs/heads/${branch}`, signal);
      await workshop.findTask(repository, sha, "none", signal);
      await workshop.fetchCommit(repository, sha, `refs/heads/${branch}`, signal);
      return checkout(repository, sha, startedAt);
    },
    close: () => workshop[Symbol.asyncDispose](),
  };
}
