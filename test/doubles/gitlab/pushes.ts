import { setTimeout as sleep } from "node:timers/promises";
import { GitFailure } from "./git.ts";
import { followBranch } from "./merge-requests.ts";
import { type Project, type User, zeroSha } from "./model.ts";
import type { FileChanges } from "./repository.ts";
import { pushHappening } from "./webhook-bodies.ts";
import type { World } from "./world.ts";

export interface RefChange {
  readonly ref: string;
  readonly old: string;
  readonly new: string;
}

/** Applies the effects of moved refs, as GitLab does after a push. */
export async function received(world: World, project: Project, user: User, changes: readonly RefChange[]) {
  for (const change of changes) {
    world.pushes.push({ project, user, ...change, atMs: world.time.nowMs() });
    const [, branch] = /^refs\/heads\/(.+)$/.exec(change.ref) ?? [];
    if (branch === undefined) continue;

    await itsTurn(project, branch, change.old);
    if (change.new === zeroSha) project.branches.delete(branch);
    else project.branches.set(branch, change.new);
    world.sendWebhook(await pushHappening(world, project, user, change));
    if (change.new === zeroSha) continue;
    const follow = () => followOpenOnes(world, project, user, { branch, head: change.new });
    if (world.settings.followsPushes) await follow();
    else world.notFollowed.push(follow);
  }
}

/** Two pushes in quick succession may be reported in the opposite order. */
async function itsTurn({ branches }: Project, branch: string, old: string): Promise<void> {
  for (let tries = 0; tries < 100 && (branches.get(branch) ?? zeroSha) !== old; tries++) await sleep(5);
}

async function followOpenOnes(world: World, project: Project, user: User, moved: { branch: string; head: string }) {
  for (const target of world.projects) {
    for (const mr of target.mergeRequests) {
      const isIts = mr.sourceProject === project && mr.sourceBranch === moved.branch && mr.state === "opened";
      if (isIts) await followBranch(world, mr, user, moved.head);
    }
  }
}

export interface CommitDraft {
  readonly message?: string;
  /** The commit on which the branch starts or is rewritten; for a new branch, the default branch. */
  readonly from?: string;
}

/** A commit on a branch, as a person pushes it: again, on top of a faster push. */
export async function pushFiles(world: World, project: Project, user: User, change: FilePush): Promise<string> {
  for (let tries = 0; ; tries++) {
    try {
      return await tryToPush(world, project, user, change);
    } catch (error) {
      if (tries === 20 || !(error instanceof GitFailure)) throw error;
      await sleep(10);
    }
  }
}

export interface FilePush extends CommitDraft {
  readonly branch: string;
  readonly files: FileChanges;
}

async function tryToPush(world: World, project: Project, user: User, change: FilePush): Promise<string> {
  const { branch, files } = change;
  const old = project.branches.get(branch);
  const start = change.from ?? old ?? project.branches.get(project.defaultBranch);
  const from = start === undefined ? undefined : (project.branches.get(start) ?? start);
  const message = change.message ?? `Change ${Object.keys(files).join(", ")}`;
  const author = { name: user.name, email: user.email };
  const commit = { branch, from, files, message, author, atMs: world.time.nowMs() };
  const sha = await project.repository.add(commit, { isForced: change.from !== undefined });
  await received(world, project, user, [{ ref: `refs/heads/${branch}`, old: old ?? zeroSha, new: sha }]);
  return sha;
}

export async function makeBranch(world: World, project: Project, user: User, at: { branch: string; sha: string }) {
  await project.repository.setRef(`refs/heads/${at.branch}`, at.sha);
  await received(world, project, user, [{ ref: `refs/heads/${at.branch}`, old: zeroSha, new: at.sha }]);
}

export async function deleteBranch(world: World, project: Project, user: User, branch: string): Promise<void> {
  const old = project.branches.get(branch);
  if (old === undefined) return;
  await project.repository.deleteRef(`refs/heads/${branch}`);
  await received(world, project, user, [{ ref: `refs/heads/${branch}`, old, new: zeroSha }]);
}
