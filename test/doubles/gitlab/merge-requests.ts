import { headOf, isDraft, type MergeRequest, type Project, type User, type Version } from "./model.ts";
import { addSystemNote } from "./notes.ts";
import { labelsOf, mergeRequestHappening, pushHappening } from "./webhook-bodies.ts";
import type { World } from "./world.ts";

export interface MergeRequestDraft {
  readonly sourceBranch: string;
  readonly sourceProject?: Project;
  /** The default branch if left out. */
  readonly targetBranch?: string;
  readonly title?: string;
  readonly description?: string;
  readonly labels?: readonly string[];
  readonly preparingReads?: number;
}

/** Opens a merge request without the checks of the REST API. */
export async function openMergeRequest(
  world: World,
  project: Project,
  author: User,
  draft: MergeRequestDraft,
): Promise<MergeRequest> {
  const nowMs = world.time.nowMs();
  const mr: MergeRequest = {
    id: world.nextId(),
    iid: project.mergeRequests.length + 1,
    project,
    sourceProject: draft.sourceProject ?? project,
    sourceBranch: draft.sourceBranch,
    targetBranch: draft.targetBranch ?? project.defaultBranch,
    title: draft.title ?? `Changes of ${draft.sourceBranch}`,
    description: draft.description ?? "",
    state: "opened",
    labels: [...(draft.labels ?? [])],
    author,
    versions: [],
    discussions: [],
    preparingReads: draft.preparingReads ?? 0,
    createdMs: nowMs,
    updatedMs: nowMs,
  };
  // Before anything is awaited: its number is taken, and a second one for the branch is refused from here on.
  project.mergeRequests.push(mr);
  const head = mr.sourceProject.branches.get(mr.sourceBranch);
  if (head !== undefined) await addVersion(world, mr, head);
  await tellOf(world, mr, author, { action: "open" });
  return mr;
}

/** The open merge request of the same branches, which prevents another one. */
export function openOneFor(project: Project, source: Project, sourceBranch: string, targetBranch: string) {
  return project.mergeRequests.find(
    (mr) =>
      mr.state === "opened" &&
      mr.sourceProject === source &&
      mr.sourceBranch === sourceBranch &&
      mr.targetBranch === targetBranch,
  );
}

export interface MergeRequestChange {
  readonly title?: string;
  readonly description?: string;
  readonly targetBranch?: string;
  readonly labels?: readonly string[];
  readonly stateEvent?: "close" | "reopen";
}

export async function changeMergeRequest(world: World, mr: MergeRequest, user: User, change: MergeRequestChange) {
  const changes: Record<string, { previous: unknown; current: unknown }> = {};
  const set = (key: "title" | "description" | "targetBranch", value: string) => {
    changes[key === "targetBranch" ? "target_branch" : key] = { previous: mr[key], current: value };
    mr[key] = value;
  };
  const wasDraft = isDraft(mr);
  if (change.title !== undefined) set("title", change.title);
  if (change.description !== undefined) set("description", change.description);
  if (change.targetBranch !== undefined) set("targetBranch", change.targetBranch);
  if (change.labels !== undefined) {
    const previous = labelsOf(mr);
    mr.labels = [...change.labels];
    changes["labels"] = { previous, current: labelsOf(mr) };
  }
  if (wasDraft !== isDraft(mr)) changes["draft"] = { previous: wasDraft, current: !wasDraft };
  mr.updatedMs = world.time.nowMs();
  if (change.stateEvent === undefined) return tellOf(world, mr, user, { action: "update", changes });

  mr.state = change.stateEvent === "close" ? "closed" : "opened";
  if (mr.state === "closed") mr.closedBy = user;
  else delete mr.closedBy;
  addSystemNote(world, mr, user, mr.state === "closed" ? "closed" : "reopened");
  return tellOf(world, mr, user, { action: change.stateEvent, changes });
}

/** Merges for real; false if git finds a conflict. */
export async function mergeMergeRequest(world: World, mr: MergeRequest, user: User): Promise<boolean> {
  const { project, targetBranch } = mr;
  const into = project.branches.get(targetBranch);
  const head = headOf(mr)?.head;
  if (into === undefined || head === undefined) return false;
  const message = `Merge branch '${mr.sourceBranch}' into '${targetBranch}'`;
  const merged = await project.repository.merge(into, head, message);
  if (merged === undefined) return false;

  await project.repository.setRef(`refs/heads/${targetBranch}`, merged);
  project.branches.set(targetBranch, merged);
  const ref = `refs/heads/${targetBranch}`;
  const change = { ref, old: into, new: merged };
  world.pushes.push({ project, user, ...change, atMs: world.time.nowMs() });
  world.sendWebhook(await pushHappening(world, project, user, change));
  Object.assign(mr, { state: "merged", mergedBy: user, mergeCommitSha: merged, updatedMs: world.time.nowMs() });
  addSystemNote(world, mr, user, "merged");
  await tellOf(world, mr, user, { action: "merge" });
  return true;
}

/** The branch of an open merge request moved. */
export async function followBranch(world: World, mr: MergeRequest, user: User, head: string): Promise<void> {
  const before = headOf(mr)?.head;
  await addVersion(world, mr, head);
  mr.updatedMs = world.time.nowMs();
  addSystemNote(world, mr, user, "added 1 commit");
  await tellOf(world, mr, user, { action: "update", ...(before !== undefined && { oldrev: before }) });
}

async function addVersion(world: World, mr: MergeRequest, head: string): Promise<void> {
  const { repository, branches } = mr.project;
  const start = branches.get(mr.targetBranch) ?? head;
  // Before anything is awaited: versions are in the order of their pushes.
  mr.versions.push({ id: world.nextId(), head, start, createdMs: world.time.nowMs() });
  if (mr.sourceProject !== mr.project) await repository.fetch(mr.sourceProject.repository, head);
  await repository.setOwnRef(`refs/merge-requests/${mr.iid}/head`, head);
}

/** The commit that a version is compared with. */
export async function baseOf(mr: MergeRequest, { start, head }: Version): Promise<string> {
  return (await mr.project.repository.mergeBase(start, head)) ?? start;
}

type MergeRequestEvent = Omit<Parameters<typeof mergeRequestHappening>[2], "user">;

async function tellOf(world: World, mr: MergeRequest, user: User, what: MergeRequestEvent): Promise<void> {
  world.sendWebhook(await mergeRequestHappening(world, mr, { ...what, user }));
}
