import { type Fields, instantOf } from "../../rest/fields.ts";
import type { Discussion, FileChange, GitLabUser, MergeRequest, Note, Project } from "../gitlab.ts";

/** GitLab's JSON, as the port has it. */
export function userOf(fields: Fields): GitLabUser {
  return { id: fields.integer("id"), username: fields.text("username") };
}

export function projectOf(fields: Fields): Project {
  return {
    id: fields.integer("id"),
    path: fields.text("path_with_namespace"),
    webUrl: fields.text("web_url"),
    cloneUrl: fields.text("http_url_to_repo"),
    defaultBranch: fields.text("default_branch"),
  };
}

const states = ["opened", "closed", "merged", "locked"] as const;

export function mergeRequestOf(fields: Fields): MergeRequest {
  const projectId = fields.integer("project_id");
  return {
    projectId,
    iid: fields.integer("iid"),
    title: fields.text("title"),
    description: fields.anyText("description"),
    // One that we do not know is nothing to work on.
    state: states.find((state) => state === fields.text("state")) ?? "locked",
    draft: fields.flag("draft") || fields.flag("work_in_progress"),
    labels: fields.texts("labels"),
    author: authorOf(fields),
    sourceBranch: fields.text("source_branch"),
    targetBranch: fields.text("target_branch"),
    // Null once the fork is deleted; then there is nothing to push to, and no project has that id.
    sourceProjectId: fields.raw("source_project_id") === null ? 0 : fields.integer("source_project_id"),
    headSha: fields.anyText("sha") || undefined,
    webUrl: fields.text("web_url"),
    updatedAt: instantOf(fields.text("updated_at"), "GitLab's merge request"),
  };
}

export function noteOf(fields: Fields, discussionId?: string): Note {
  return {
    id: fields.integer("id"),
    body: fields.anyText("body"),
    author: authorOf(fields),
    system: fields.flag("system"),
    createdAt: instantOf(fields.text("created_at"), "GitLab's note"),
    ...(discussionId !== undefined && { discussionId }),
  };
}

export function discussionOf(fields: Fields): Discussion {
  const id = fields.text("id");
  return { id, notes: fields.list("notes").map((note) => noteOf(note, id)) };
}

export function fileChangeOf(fields: Fields): FileChange {
  const base = { oldPath: fields.text("old_path"), newPath: fields.text("new_path"), diff: fields.anyText("diff") };
  if (fields.flag("new_file")) return { ...base, kind: "added" };
  if (fields.flag("deleted_file")) return { ...base, kind: "deleted" };
  return { ...base, kind: fields.flag("renamed_file") ? "renamed" : "changed" };
}

/** Somebody whom GitLab no longer names has no rights with us. */
function authorOf(fields: Fields): GitLabUser {
  const author = fields.anyObject("author");
  return author ? userOf(author) : { id: 0, username: "" };
}
