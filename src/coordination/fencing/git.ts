import { createHash } from "node:crypto";
import type { Git } from "../../process/index.ts";
import { CoordinationError } from "../errors.ts";
import type { Lease } from "../locks/locks.ts";

export interface FencedPush {
  readonly git: Git;
  readonly workTree: string;
  /** A configured remote, a path, or a URL without credentials in it. */
  readonly remote: string;
  readonly branch: string;
  /** Where the branch was when it was read under the lock; undefined: it was not there. */
  readonly expectedSha: string | undefined;
  /** Where it goes. Need not descend from `expectedSha`. */
  readonly commit: string;
  readonly lease: Pick<Lease, "fence" | "holder" | "signal" | "assertHeld">;
  readonly signal?: AbortSignal;
  /**
   * Allows a push of the branch alone to a remote that rejects fence refs, and is called when that was done. A late push
   * then fails only if the branch has moved: callers that allow it must recognise the commits of a late push.
   */
  readonly withoutFence?: () => void;
}

/**
 * - `pushed`: the branch is at our commit, under our fence or `withoutFence`
 * - `stale`: another holder pushed, under this fence; the caller no longer holds the lock, and must stop
 * - `moved`: the branch is not where it was read, but at `sha`, or nowhere
 */
export type FencedPushOutcome =
  | { readonly kind: "pushed" }
  | { readonly kind: "stale"; readonly fence: bigint }
  | { readonly kind: "moved"; readonly sha: string | undefined };

// Of two concurrent pushes both may be rejected, and a retry succeeds. A remote may also reject permanently, so tries are limited.
const maxTries = 3;

/**
 * Moves a branch under a lock: the branch and a ref that holds our fence change in one atomic push, each only if it is
 * as we read it. A late push of a holder that lost its lease fails as a whole. Repeating a push whose reply was lost is
 * harmless. Rejects with `unavailable` when the remote fails or refuses for reasons of its own; errors of `git` propagate.
 */
export async function fencedPush(push: FencedPush): Promise<FencedPushOutcome> {
  const run = await checkLease(push);
  let lastError = "";
  let isAlone = false;
  for (let tries = 0; ; tries++) {
    const seen = await observe(push, run);
    // The response to a push of the branch alone was lost: there is no fence record that names its author.
    const outcome = isAlone && seen.branch === push.commit ? pushed : decide(push, seen);
    if (outcome?.kind === "pushed" && isAlone) push.withoutFence?.();
    if (outcome) return outcome;
    if (tries === maxTries) throw failure("push", lastError);

    // Git's error text is for display. The refs of the remote decide who won.
    const result: GitResult = isAlone ? await performAlone(push, run) : await perform(push, run, seen);
    if (result.code === 0) {
      if (isAlone) push.withoutFence?.();
      return pushed;
    }
    lastError = result.stderr;
    // The rules of the remote may forbid the fence ref or the branch. A push of the branch alone shows which.
    isAlone ||= push.withoutFence !== undefined && isAgainstRules.test(lastError);
  }
}

const pushed = { kind: "pushed" } as const;

/** A hook or a setting of the remote rejected the push; a race or an outage looks different. */
const isAgainstRules = /\[remote rejected\].*\((?:[\w-]+ )?hook declined\)|deny updating a hidden ref/;

/** The ref that holds the fence of `branch`. */
export function fenceRef(branch: string): string {
  return `refs/interlock/fence/${createHash("sha256").update(branch).digest("hex")}`;
}

type GitRun = (args: readonly string[], input?: string) => Promise<GitResult>;

interface GitResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns a function that runs git in the work tree, after checking all arguments that come from the caller. */
async function checkLease({ git, workTree, lease, signal, ...push }: FencedPush): Promise<GitRun> {
  for (const sha of [push.commit, push.expectedSha ?? push.commit]) {
    if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(sha)) throw new TypeError(`not a full sha: ${JSON.stringify(sha)}`);
  }
  // The error does not repeat the remote, because that may contain the secret.
  if (/^-|^https?:\/\/[^/]*@|^\w+:\/\/[^/@]*:[^/]*@/i.test(push.remote)) {
    throw new TypeError("a remote must not start with a dash or contain credentials; use a credential helper");
  }
  const either = signal ? AbortSignal.any([lease.signal, signal]) : lease.signal;
  const run: GitRun = async (args, input) => {
    const output = await git(args, { cwd: workTree, signal: either, ...(input !== undefined && { input }) });
    if (output.truncated) throw failure(args[0] ?? "", "it printed too much");
    return { ...output, stdout: output.stdout.toString() };
  };
  if (push.branch.startsWith("-") || (await run(["check-ref-format", `refs/heads/${push.branch}`])).code !== 0) {
    throw new TypeError(`not a branch name: ${JSON.stringify(push.branch)}`);
  }
  return run;
}

/** The state of the remote. */
interface RemoteState {
  readonly branch: string | undefined;
  readonly fence: FenceRecord | undefined;
}

interface FenceRecord {
  readonly blob: string;
  readonly fence: bigint;
  readonly holder: string;
  /** Where the branch went with it. */
  readonly commit: string;
}

async function observe({ remote, branch }: FencedPush, run: GitRun): Promise<RemoteState> {
  const ref = fenceRef(branch);
  for (let tries = 0; tries < maxTries; tries++) {
    const { code, stdout, stderr } = await run(["ls-remote", "--", remote, `refs/heads/${branch}`, ref]);
    if (code !== 0) throw failure("ls-remote", stderr);
    const shas = new Map(stdout.split("\n").map((line) => line.split("\t").toReversed() as [string, string]));

    const blob = shas.get(ref);
    const fence = blob === undefined ? undefined : await readFence(blob, run, { remote, ref });
    if (fence !== "moved") return { branch: shas.get(`refs/heads/${branch}`), fence };
  }
  throw failure("fetch", "the fence kept moving");
}

async function readFence(
  blob: string,
  run: GitRun,
  from: { remote: string; ref: string },
): Promise<FenceRecord | "moved"> {
  let read = await run(["cat-file", "blob", blob]);
  if (read.code !== 0) {
    const options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap="];
    const { code, stderr } = await run(["fetch", ...options, "--", from.remote, from.ref]);
    if (code !== 0) throw failure("fetch", stderr);
    read = await run(["cat-file", "blob", blob]);
    if (read.code !== 0) return "moved";
  }
  const [, fence, holder, commit] = /^fence (\d{1,40})\nholder (.*)\ncommit (\w+)\n/.exec(read.stdout) ?? [];
  if (fence === undefined || holder === undefined || commit === undefined) {
    throw new CoordinationError("collision", `${from.ref} on the remote holds something that is not a fence`);
  }
  return { blob, fence: BigInt(fence), holder, commit };
}

function decide(
  { expectedSha, commit, lease }: FencedPush,
  { branch, fence }: RemoteState,
): FencedPushOutcome | undefined {
  const isMine = fence?.fence === lease.fence && fence.holder === lease.holder;
  if (fence && !isMine && fence.fence >= lease.fence) return { kind: "stale", fence: fence.fence };
  if (isMine && fence.commit === commit && branch === commit) return { kind: "pushed" };
  if (branch !== expectedSha) return { kind: "moved", sha: branch };
  return undefined;
}

async function perform(
  { remote, branch, commit, expectedSha = "", lease }: FencedPush,
  run: GitRun,
  { fence }: RemoteState,
) {
  const before = fence?.blob ?? "";
  // The name of its predecessor makes every record a new blob. Git neither compares nor sends a ref that is already at the
  // pushed commit, so the branch would move without the check of the fence.
  const record = `fence ${lease.fence}\nholder ${lease.holder}\ncommit ${commit}\nafter ${before || "nothing"}\n`;
  const { code, stdout, stderr } = await run(["hash-object", "-w", "--stdin"], record);
  if (code !== 0) throw failure("hash-object", stderr);

  const head = `refs/heads/${branch}`;
  const guard = fenceRef(branch);
  // Without a value, the ref must not exist yet.
  const expected = [`--force-with-lease=${head}:${expectedSha}`, `--force-with-lease=${guard}:${before}`];
  const refspecs = [`${commit}:${head}`, `${stdout.trim()}:${guard}`];
  lease.assertHeld();
  return run(["push", "--atomic", "--no-follow-tags", ...expected, "--", remote, ...refspecs]);
}

function performAlone({ remote, branch, commit, expectedSha = "", lease }: FencedPush, run: GitRun) {
  const head = `refs/heads/${branch}`;
  lease.assertHeld();
  const expected = `--force-with-lease=${head}:${expectedSha}`;
  return run(["push", "--no-follow-tags", expected, "--", remote, `${commit}:${head}`]);
}

function failure(command: string, stderr: string): CoordinationError {
  return new CoordinationError("unavailable", `git ${command} failed: ${stderr.trim().slice(-2_000)}`);
}
