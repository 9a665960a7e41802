import type { ServerTime } from "../web/server-time.ts";
import type { DiffFile } from "./diff.ts";
import {
  type Award,
  type Discussion,
  headOf,
  isDraft,
  type MergeRequest,
  type Note,
  type Project,
  type User,
} from "./model.ts";
import { isResolvable } from "./notes.ts";
import type { CommitInfo } from "./repository.ts";
import type { Settings } from "./world.ts";

/** Things as GitLab's REST API shows them. */
export function userView({ id, username, name }: User, webUrl = "") {
  return { id, username, name, state: "active", locked: false, avatar_url: null, web_url: `${webUrl}/${username}` };
}

export function projectView(project: Project) {
  return {
    id: project.id,
    name: project.path.split("/").at(-1),
    path: project.path.split("/").at(-1),
    path_with_namespace: project.path,
    web_url: project.webUrl,
    http_url_to_repo: project.cloneUrl,
    default_branch: project.defaultBranch,
    visibility: project.visibility,
    archived: false,
    forked_from_project: project.forkedFrom ? { id: project.forkedFrom.id } : undefined,
  };
}

export function mergeRequestView(mr: MergeRequest, time: ServerTime) {
  const isPreparing = mr.preparingReads > 0;
  return {
    id: mr.id,
    iid: mr.iid,
    project_id: mr.project.id,
    title: mr.title,
    description: mr.description,
    state: mr.state,
    created_at: time.iso(mr.createdMs),
    updated_at: time.iso(mr.updatedMs),
    merged_by: mr.mergedBy ? userView(mr.mergedBy) : null,
    closed_by: mr.closedBy ? userView(mr.closedBy) : null,
    source_branch: mr.sourceBranch,
    target_branch: mr.targetBranch,
    source_project_id: mr.sourceProject.id,
    target_project_id: mr.project.id,
    author: userView(mr.author),
    assignees: [],
    reviewers: [],
    labels: mr.labels,
    draft: isDraft(mr),
    work_in_progress: isDraft(mr),
    merge_status: isPreparing ? "preparing" : "can_be_merged",
    detailed_merge_status: mergeStatus(mr, isPreparing),
    sha: isPreparing ? null : (headOf(mr)?.head ?? null),
    merge_commit_sha: mr.mergeCommitSha ?? null,
    user_notes_count: mr.discussions.flatMap(({ notes }) => notes).filter((note) => !note.isSystem && !note.isDeleted)
      .length,
    web_url: `${mr.project.webUrl}/-/merge_requests/${mr.iid}`,
    references: { short: `!${mr.iid}`, relative: `!${mr.iid}`, full: `${mr.project.path}!${mr.iid}` },
    has_conflicts: false,
    blocking_discussions_resolved: true,
  };
}

function mergeStatus(mr: MergeRequest, isPreparing: boolean): string {
  if (isPreparing) return "preparing";
  if (mr.state !== "opened") return "not_open";
  return isDraft(mr) ? "draft_status" : "mergeable";
}

export function noteView(note: Note, mr: MergeRequest, time: ServerTime) {
  const resolvable = isResolvable(note);
  return {
    id: note.id,
    type: note.type,
    body: note.body,
    author: userView(note.author),
    created_at: time.iso(note.createdMs),
    updated_at: time.iso(note.updatedMs),
    system: note.isSystem,
    noteable_id: mr.id,
    noteable_type: "MergeRequest",
    noteable_iid: mr.iid,
    project_id: mr.project.id,
    commit_id: null,
    ...(note.position && { position: note.position }),
    resolvable,
    ...(resolvable && {
      resolved: note.resolved !== undefined,
      resolved_by: note.resolved ? userView(note.resolved.by) : null,
      resolved_at: note.resolved ? time.iso(note.resolved.atMs) : null,
    }),
    confidential: note.isInternal,
    internal: note.isInternal,
  };
}

export function discussionView({ id, isIndividual, notes }: Discussion, mr: MergeRequest, time: ServerTime) {
  return { id, individual_note: isIndividual, notes: notes.map((note) => noteView(note, mr, time)) };
}

export function awardView({ id, name, user, createdMs }: Award, note: Note, time: ServerTime) {
  const at = time.iso(createdMs);
  return {
    id,
    name,
    user: userView(user),
    created_at: at,
    updated_at: at,
    awardable_id: note.id,
    awardable_type: "Note",
  };
}

export function diffView(file: DiffFile, { collapsedBytes, tooLargeBytes }: Settings) {
  const size = Buffer.byteLength(file.text);
  return {
    old_path: file.oldPath,
    new_path: file.newPath,
    a_mode: file.oldMode,
    b_mode: file.newMode,
    diff: size > collapsedBytes ? "" : file.text,
    new_file: file.kind === "added",
    renamed_file: file.kind === "renamed",
    deleted_file: file.kind === "deleted",
    generated_file: false,
    collapsed: size > collapsedBytes && size <= tooLargeBytes,
    too_large: size > tooLargeBytes,
  };
}

export function commitView(commit: CommitInfo, project: Project, time: ServerTime) {
  const at = time.iso(commit.atMs);
  return {
    id: commit.sha,
    short_id: commit.sha.slice(0, 8),
    title: commit.message.split("\n")[0],
    message: commit.message,
    parent_ids: commit.parents,
    author_name: commit.authorName,
    author_email: commit.authorEmail,
    authored_date: at,
    committed_date: at,
    created_at: at,
    web_url: `${project.webUrl}/-/commit/${commit.sha}`,
  };
}
