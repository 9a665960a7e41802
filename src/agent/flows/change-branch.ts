import { coderStep } from "../../resources/index.ts";
import { cleanCommitMessage } from "../coder/clean-text.ts";
import type { EditRequest } from "../coder/coder.ts";
import { type Failed, failedEnd } from "../end.ts";
import type { Patch, Repository } from "../git/workshop.ts";
import type { Attempt } from "../work/attempt.ts";

export interface BranchOrder {
  readonly repository: Repository;
  readonly branch: string;
  /** Where the branch starts if it does not exist; undefined: it has to exist. */
  readonly from?: string;
  /** The only commit that the coder may work on: no member has read later commits of a fork. */
  readonly onlyAt?: string | undefined;
  /** Returns why the change must not be pushed; called right before the push. */
  readonly checkBeforePush?: () => Promise<Failed | undefined>;
  readonly request: EditRequest;
  /** First line of the commit message, unless the coder supplies a message. */
  readonly title: string;
}

export type BranchOutcome =
  | { readonly kind: "pushed"; readonly sha: string; readonly summary: string }
  | { readonly kind: "nothing"; readonly summary: string }
  | Failed;

const maxTitleLength = 250;

/** How often another push may be first. */
const maxRounds = 3;

/**
 * Runs the coder on a branch, and pushes one commit with the change, under the lock. A commit that was pushed by an
 * interrupted attempt is recognised by its trailer. If other users push meanwhile, the change is applied on top of
 * their commits.
 */
export async function changeBranch(attempt: Attempt, order: BranchOrder): Promise<BranchOutcome> {
  const { workshop, progress, signal, uid } = attempt;
  const { repository, branch, from } = order;
  let edit: Edit | undefined;
  for (let round = 1; round <= maxRounds; round++) {
    const head = await workshop.branchHead(repository, branch, signal);
    const start = head ?? (from && (await workshop.branchHead(repository, from, signal)));
    if (start === undefined) {
      const message = `the branch ${from ?? branch} does not exist; push it again, then ask again`;
      return failedEnd("BranchMissing", message);
    }
    const startBranch = head === undefined ? (from ?? branch) : branch;
    await workshop.fetchCommit(repository, start, `refs/heads/${startBranch}`, signal);
    const found = head && (await workshop.findTask(repository, head, uid, signal));
    if (found) return { kind: "pushed", sha: found, summary: progress.resultOf(coderStep)?.["summary"] ?? "" };
    if (order.onlyAt !== undefined && start !== order.onlyAt) {
      return failedEnd("ForkMoved", `${branch} has new commits since the request: read them, then ask again`);
    }

    if (!edit || edit.hasConflict) {
      const outcome = await runCoder(attempt, order, start, startBranch);
      if (outcome.kind !== "edit") return outcome;
      edit = outcome;
    }
    const pushed = await commitAndPush(attempt, order, edit, { head, start });
    if (pushed.kind === "retry") edit = { ...edit, hasConflict: pushed.reason === "conflict" };
    else return pushed;
  }
  return failedEnd("BranchMoved", `other users kept pushing to ${branch}; will retry`, true);
}

interface Edit {
  readonly kind: "edit";
  readonly summary: string;
  readonly message: string;
  readonly patch: Patch;
  /** The patch conflicts with commits that were pushed meanwhile: the coder has to run again. */
  readonly hasConflict: boolean;
}

async function runCoder(
  attempt: Attempt,
  order: BranchOrder,
  sha: string,
  branch: string,
): Promise<Edit | BranchOutcome> {
  const { coder, progress, signal, uid } = attempt;
  const { repository, request, title } = order;
  const ref = `refs/heads/${branch}`;
  const outcome = await coder.run({ taskUid: uid, request, repository, sha, ref }, signal);
  if (outcome.kind === "failed") return failedEnd(outcome.reason, outcome.message, outcome.retry);
  if (outcome.kind === "reviewed") return failedEnd("BadAnswer", "the coder reviewed instead of editing", true);
  const { summary, change, commitMessage } = outcome;
  if (change.kind === "nothing") return { kind: "nothing", summary };
  if (change.kind === "refused") return failedEnd(`Patch${change.reason}`, change.message);
  await progress.record(coderStep, { summary, files: change.patch.files.slice(0, 100).join("\n") });
  // The title has words of people.
  const subject = commitMessage ?? cleanCommitMessage(title, maxTitleLength, []);
  const message = `${subject}\n\nInterlock-Task: ${uid}\n`;
  return { kind: "edit", summary, message, patch: change.patch, hasConflict: false };
}

type Pushed = BranchOutcome | { readonly kind: "retry"; readonly reason: "moved" | "conflict" };

async function commitAndPush(
  { workshop, lease, signal, settings, progress }: Attempt,
  { repository, branch, checkBeforePush }: BranchOrder,
  { patch, message, summary }: Edit,
  { head, start }: { readonly head: string | undefined; readonly start: string },
): Promise<Pushed> {
  const { status } = progress.task;
  const startTime = status && "startTime" in status ? status.startTime : undefined;
  const atSeconds = Math.floor(Date.parse(startTime ?? "") / 1_000);
  const draft = { parent: start, patch, message, author: settings.author, atSeconds };
  const commit = await workshop.commit(repository, draft, signal);
  if (commit.kind === "conflict") return { kind: "retry", reason: "conflict" };

  const refusal = await checkBeforePush?.();
  if (refusal) return refusal;
  const order = { branch, expectedSha: head, commit: commit.sha, lease };
  const outcome = await workshop.push(repository, order, signal);
  switch (outcome.kind) {
    case "pushed":
      return { kind: "pushed", sha: commit.sha, summary };
    case "moved":
      return { kind: "retry", reason: "moved" };
    case "stale":
      return failedEnd("LockLost", "another replica pushed under a later lock; will retry", true);
  }
}
