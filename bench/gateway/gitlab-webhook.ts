export const gitlabPath = "/api/v1/webhooks/gitlab";
export const gitlabSecret = "a-secret-for-benchmarks";

/** A webhook of GitLab that makes a new task: a merge request was opened, or a user comments on one with a command. */
export function gitlabWebhook(i: number): string {
  return JSON.stringify(i % 2 === 0 ? opened(i) : commented(i));
}

function opened(i: number): object {
  const attributes = { ...mergeRequest(i), action: "open" };
  return { object_kind: "merge_request", ...envelope, object_attributes: attributes, labels: [], changes: {} };
}

function commented(i: number): object {
  const attributes = {
    id: 1_000 + i,
    note: `/copilot ${"make it better in many words. ".repeat(30)}`,
    noteable_type: "MergeRequest",
    noteable_id: 1_000 + i,
    author_id: envelope.user.id,
    project_id: envelope.project.id,
    discussion_id: (i + 1).toString(16).padStart(40, "0"),
    type: null,
    system: false,
    action: "create",
    created_at: "2026-11-15 06:00:00 UTC",
    updated_at: "2026-11-15 06:00:00 UTC",
  };
  return { object_kind: "note", ...envelope, object_attributes: attributes, merge_request: mergeRequest(i) };
}

const url = "https://gitlab.example.com/group/app";
const envelope = {
  user: { id: 3, name: "Ada", username: "ada", email: "[REDACTED]" },
  project: {
    id: 5,
    name: "app",
    web_url: url,
    git_http_url: `${url}.git`,
    path_with_namespace: "group/app",
    default_branch: "main",
  },
};

function mergeRequest(i: number) {
  const sha = (i + 1).toString(16).padStart(40, "0");
  return {
    id: 1_000 + i,
    iid: i + 1,
    title: "A change",
    description: "What it is about, in a few lines. ".repeat(30),
    state: "opened",
    source_branch: `topic-${i}`,
    target_branch: "main",
    source_project_id: 5,
    target_project_id: 5,
    last_commit: { id: sha, message: "A change", timestamp: "2026-11-15T06:00:00+00:00" },
    draft: false,
    labels: [],
    url: `${url}/-/merge_requests/${i + 1}`,
  };
}
