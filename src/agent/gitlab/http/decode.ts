import { flag, instant, textOrEmpty, texts, z } from "../../../schema/index.ts";
import type { Discussion, FileChange, MergeRequest, Note, Project } from "../gitlab.ts";

export const userSchema = z.object({ id: z.int(), username: z.string() });

export const memberSchema = z
  .object({
    access_level: z.int(),
    state: z.string().catch("active"),
    membership_state: z.string().catch("active"),
    expires_at: z.string().nullish(),
  })
  .transform(({ access_level, state, membership_state, expires_at }): Member => {
    const isActive = state === "active" && membership_state === "active";
    return { level: isActive ? access_level : 0, expiresAt: expires_at ?? undefined };
  });

interface Member {
  /** 0 for a user who is blocked, banned, deactivated or only invited: they stay members, and may do nothing. */
  readonly level: number;
  /** A day, which begins at midnight UTC. GitLab removes the member some hours later. */
  readonly expiresAt: string | undefined;
}

export const projectSchema = z
  .object({
    id: z.int(),
    path_with_namespace: z.string(),
    web_url: z.string(),
    http_url_to_repo: z.string(),
    default_branch: z.string(),
  })
  .transform((project): Project => {
    return {
      id: project.id,
      path: project.path_with_namespace,
      webUrl: project.web_url,
      cloneUrl: project.http_url_to_repo,
      defaultBranch: project.default_branch,
    };
  });

/** An author whom GitLab no longer names has no rights with us. */
const author = userSchema.nullish().transform((user) => user ?? { id: 0, username: "" });

export const mergeRequestSchema = z
  .object({
    project_id: z.int(),
    iid: z.int(),
    title: z.string(),
    description: textOrEmpty,
    // A merge request in an unknown state is nothing to work on.
    state: z.string().pipe(z.enum(["opened", "closed", "merged", "locked"]).catch("locked")),
    draft: flag,
    work_in_progress: flag,
    labels: texts,
    author,
    source_branch: z.string(),
    target_branch: z.string(),
    source_project_id: z.int().nullable(),
    sha: textOrEmpty,
    web_url: z.string(),
    updated_at: instant,
  })
  .transform((request): MergeRequest => {
    return {
      projectId: request.project_id,
      iid: request.iid,
      title: request.title,
      description: request.description,
      state: request.state,
      draft: request.draft || request.work_in_progress,
      labels: request.labels,
      author: request.author,
      sourceBranch: request.source_branch,
      targetBranch: request.target_branch,
      // Null once the fork is deleted: then there is nothing to push to, and no project has that id.
      sourceProjectId: request.source_project_id ?? 0,
      headSha: request.sha || undefined,
      webUrl: request.web_url,
      updatedAt: request.updated_at,
    };
  });

export const noteSchema = z
  .object({ id: z.int(), body: textOrEmpty, author, system: flag, internal: flag, created_at: instant })
  .transform(({ created_at: createdAt, ...note }): Note => ({ ...note, createdAt }));

export const discussionSchema = z
  .object({ id: z.string(), notes: z.array(noteSchema) })
  .transform(({ id, notes }): Discussion => ({ id, notes: notes.map((note) => ({ ...note, discussionId: id })) }));

const fileChangeSchema = z
  .object({ old_path: z.string(), new_path: z.string(), diff: textOrEmpty })
  .transform(({ old_path, new_path, diff }): FileChange => ({ oldPath: old_path, newPath: new_path, diff }));

/** One version of a merge request's changes. */
export const versionSchema = z.object({
  base_commit_sha: z.string(),
  start_commit_sha: z.string(),
  head_commit_sha: z.string(),
  created_at: instant,
  diffs: z.array(fileChangeSchema),
});
