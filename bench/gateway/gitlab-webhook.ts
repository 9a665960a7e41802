export const gitlabPath = "/api/v1/webhooks/gitlab";
export const gitlabSecret = "a-secret-for-benchmarks";

/** GitLab's webhook for a merge request that was opened, each with another number. */
export function gitlabWebhook(i: number): string {
  const sha = (i + 1).toString(16).padStart(40, "0");
  return JSON.stringify({
    object_kind: "merge_request",
    event_type: "merge_request",
    user: { id: 3, name: "Ada", username: "ada", email: "[REDACTED]" },
    project: {
      id: 5,
      name: "app",
      web_url: "https://gitlab.example.com/group/app",
      git_http_url: "https://gitlab.example.com/group/app.git",
      path_with_namespace: "group/app",
      default_branch: "main",
    },
    object_attributes: {
      id: 1_000 + i,
      iid: i + 1,
      title: "A change",
      description: "What it is about, in a few lines. ".repeat(30),
      state: "opened",
      action: "open",
      source_branch: `topic-${i}`,
      target_branch: "main",
      source_project_id: 5,
      target_project_id: 5,
      last_commit: { id: sha, message: "A change", timestamp: "2026-11-15T06:00:00+00:00" },
      draft: false,
      labels: [],
      url: `https://gitlab.example.com/group/app/-/merge_requests/${i + 1}`,
    },
    labels: [],
    changes: {},
  });
}
