import { headOf, isDraft, type MergeRequest, type Note, type Project, type User } from "./model.ts";
import { discussionOf } from "./notes.ts";
import type { RefChange } from "./pushes.ts";
import type { World } from "./world.ts";

/** An event that webhooks report. */
export interface Happening {
  readonly project: Project;
  /** `Merge Request Hook`, for the header. */
  readonly hook: string;
  readonly body: object;
}

interface MergeRequestNews {
  readonly user: User;
  readonly action: "open" | "update" | "reopen" | "close" | "merge" | "approved" | "unapproved";
  /** Only if the code has changed. */
  readonly oldrev?: string;
  readonly changes?: object;
}

export async function mergeRequestHappening(
  world: World,
  mr: MergeRequest,
  { user, action, oldrev, changes = {} }: MergeRequestNews,
): Promise<Happening> {
  const body = {
    object_kind: "merge_request",
    event_type: "merge_request",
    ...envelope(mr.project, user),
    object_attributes: {
      ...(await mergeRequestAttributes(world, mr)),
      action,
      ...(oldrev !== undefined && { oldrev }),
    },
    labels: labelsOf(mr),
    changes,
    assignees: [],
    reviewers: [],
  };
  return { project: mr.project, hook: "Merge Request Hook", body };
}

export async function noteHappening(
  world: World,
  mr: MergeRequest,
  note: Note,
  action: "create" | "update",
): Promise<Happening> {
  const attributes = {
    ...noteAttributes(mr.project, { ...note, noteableId: mr.id, noteableType: "MergeRequest", action }),
    type: note.type,
    discussion_id: discussionOf(mr, note).id,
    position: note.position ?? null,
    url: `${mr.project.webUrl}/-/merge_requests/${mr.iid}#note_${note.id}`,
  };
  const body = {
    object_kind: "note",
    event_type: note.isInternal ? "confidential_note" : "note",
    ...envelope(mr.project, note.author),
    object_attributes: attributes,
    merge_request: await mergeRequestAttributes(world, mr),
  };
  return { project: mr.project, hook: note.isInternal ? "Confidential Note Hook" : "Note Hook", body };
}

/** Notes on commits, issues and snippets. */
export function otherNoteHappening(
  world: World,
  project: Project,
  { user, body, on, isConfidential = false }: OtherNote,
): Happening {
  const nowMs = world.time.nowMs();
  const id = world.nextId();
  const note = { id, body, author: user, isSystem: false, createdMs: nowMs, updatedMs: nowMs };
  const attributes = {
    ...noteAttributes(project, { ...note, noteableId: world.nextId(), noteableType: on, action: "create" }),
    type: null,
    discussion_id: world.nextDiscussionId(),
    url: `${project.webUrl}#note_${id}`,
  };
  const subject = { id: attributes.noteable_id, iid: 1, title: "Something", state: "opened" };
  return {
    project,
    hook: isConfidential ? "Confidential Note Hook" : "Note Hook",
    body: {
      object_kind: "note",
      event_type: isConfidential ? "confidential_note" : "note",
      ...envelope(project, user),
      object_attributes: on === "Commit" ? { ...attributes, noteable_id: null, commit_id: head(project) } : attributes,
      [on.toLowerCase()]: on === "Commit" ? { id: head(project), message: "Something" } : subject,
    },
  };
}

export interface OtherNote {
  readonly user: User;
  readonly body: string;
  readonly on: "Issue" | "Commit" | "Snippet";
  readonly isConfidential?: boolean;
}

export async function pushHappening(world: World, project: Project, user: User, change: RefChange): Promise<Happening> {
  const after = /^0+$/.test(change.new) ? undefined : await project.repository.commit(change.new);
  return {
    project,
    hook: "Push Hook",
    body: {
      object_kind: "push",
      event_name: "push",
      before: change.old,
      after: change.new,
      ref: change.ref,
      checkout_sha: after?.sha ?? null,
      user_id: user.id,
      user_username: user.username,
      project_id: project.id,
      project: projectOf(project),
      commits: after ? [{ id: after.sha, message: after.message, timestamp: world.time.iso(after.atMs) }] : [],
      total_commits_count: after ? 1 : 0,
    },
  };
}

export function pipelineHappening(project: Project, user: User, branch: string, status: string): Happening {
  const attributes = { id: 1, iid: 1, ref: branch, sha: project.branches.get(branch) ?? null, status, source: "push" };
  return {
    project,
    hook: "Pipeline Hook",
    body: {
      object_kind: "pipeline",
      ...envelope(project, user),
      object_attributes: attributes,
      merge_request: null,
      builds: [],
    },
  };
}

async function mergeRequestAttributes({ time }: World, mr: MergeRequest) {
  const { project, sourceProject } = mr;
  const head = headOf(mr)?.head;
  const commit = head === undefined ? undefined : await project.repository.commit(head);
  return {
    id: mr.id,
    iid: mr.iid,
    title: mr.title,
    description: mr.description,
    state: mr.state,
    source_branch: mr.sourceBranch,
    target_branch: mr.targetBranch,
    source_project_id: sourceProject.id,
    target_project_id: project.id,
    source: projectOf(sourceProject),
    target: projectOf(project),
    last_commit: commit
      ? {
          id: commit.sha,
          message: commit.message,
          title: commit.message.split("\n")[0],
          timestamp: time.iso(commit.atMs),
          url: `${project.webUrl}/-/commit/${commit.sha}`,
          author: { name: commit.authorName, email: commit.authorEmail },
        }
      : null,
    draft: isDraft(mr),
    work_in_progress: isDraft(mr),
    labels: labelsOf(mr),
    author_id: mr.author.id,
    assignee_ids: [],
    reviewer_ids: [],
    merge_status: "can_be_merged",
    detailed_merge_status: "mergeable",
    blocking_discussions_resolved: true,
    url: `${project.webUrl}/-/merge_requests/${mr.iid}`,
    created_at: webhookTime(mr.createdMs),
    updated_at: webhookTime(mr.updatedMs),
  };
}

interface NoteFacts extends Pick<Note, "id" | "body" | "author" | "isSystem" | "createdMs" | "updatedMs"> {
  readonly noteableId: number;
  readonly noteableType: string;
  readonly action: string;
}

function noteAttributes(project: Project, note: NoteFacts) {
  return {
    id: note.id,
    note: note.body,
    description: note.body,
    noteable_type: note.noteableType,
    noteable_id: note.noteableId as number | null,
    author_id: note.author.id,
    project_id: project.id,
    created_at: webhookTime(note.createdMs),
    updated_at: webhookTime(note.updatedMs),
    system: note.isSystem,
    line_code: null,
    commit_id: null,
    action: note.action,
  };
}

function envelope(project: Project, user: User) {
  return {
    user: {
      id: user.id,
      name: user.name,
      username: user.username,
      avatar_url: null,
      email: "[REDACTED]",
    },
    project_id: project.id,
    project: projectOf(project),
    repository: { name: project.path.split("/").at(-1), url: project.cloneUrl, homepage: project.webUrl },
  };
}

function projectOf(project: Project) {
  const names = project.path.split("/");
  return {
    id: project.id,
    name: names.at(-1),
    description: null,
    web_url: project.webUrl,
    avatar_url: null,
    git_ssh_url: `git@gitlab.example.com:${project.path}.git`,
    git_http_url: project.cloneUrl,
    namespace: names.slice(0, -1).join("/"),
    visibility_level: project.visibility === "public" ? 20 : 0,
    path_with_namespace: project.path,
    default_branch: project.defaultBranch,
    ci_config_path: null,
  };
}

/** In full, unlike in REST. */
export function labelsOf(mr: MergeRequest) {
  return mr.labels.map((title) => ({ title, color: "#428BCA", project_id: mr.project.id }));
}

function head(project: Project): string | null {
  return project.branches.get(project.defaultBranch) ?? null;
}

/** Unlike REST's. */
function webhookTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
