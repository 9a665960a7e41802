import { gitlabProjects, names, startPoint } from "../agent-kinds.ts";
import { duration, file, oneOf, secret, text, yesOrNo } from "../kinds.ts";
import { networks } from "../notice-kinds.ts";
import { optional, setting } from "../setting.ts";
import { httpUrl } from "../url-kinds.ts";

export const gitlab = {
  url: optional(httpUrl(), {
    env: "GITLAB_URL",
    about: "The GitLab server that the agent works with. Its host is part of the names of tasks.",
  }),
  token: optional(secret("a token of GitLab"), {
    env: "GITLAB_TOKEN",
    about: "The token of the agent's user, with the scopes `api` and `write_repository`.",
  }),
  tokenFile: optional(file(), {
    env: "GITLAB_TOKEN_FILE",
    about: "A file with the token, instead. It is read again every few seconds, and when GitLab rejects the token.",
  }),
  webhookSecret: optional(secret("the secret token of the webhooks"), {
    env: "GITLAB_WEBHOOK_SECRET",
    about: "The secret token of the webhooks. Without it the gateway rejects webhooks.",
  }),
  webhookSecretFile: optional(file(), {
    env: "GITLAB_WEBHOOK_SECRET_FILE",
    about:
      "A file with the secret token of the webhooks, instead, read again every few seconds. Each line is a valid token: the old and the new one while you replace it.",
  }),
  webhookNetworks: optional(networks(), {
    env: "GITLAB_WEBHOOK_NETWORKS",
    about: "The networks that webhooks may come from, by the address of the connection; any unless set.",
  }),
  projects: optional(gitlabProjects(), {
    env: "GITLAB_PROJECTS",
    about: "The projects that are polled. From webhooks, only these are served if set, otherwise all.",
  }),
  username: optional(text("the user name of the agent"), {
    env: "AGENT_GITLAB_USERNAME",
    about: "The agent's user name: comments that mention `@name` are commands to it, and its own comments are ignored.",
  }),
  poll: setting(yesOrNo(), {
    default: "false",
    env: "GITLAB_POLL",
    about: "Whether to poll GitLab for changes, in addition to webhooks or instead of them.",
  }),
  pollIntervalMs: setting(duration({ min: "1s" }), {
    default: "30s",
    env: "GITLAB_POLL_INTERVAL",
    about: "How often each project is polled.",
  }),
  pollFrom: setting(startPoint(), {
    default: "now",
    env: "GITLAB_POLL_FROM",
    about: "Where the first poll of a project starts.",
  }),
  reviewDrafts: setting(yesOrNo(), {
    default: "false",
    env: "GITLAB_REVIEW_DRAFTS",
    about: "Whether drafts are reviewed before they are ready.",
  }),
  skipLabels: optional(names("labels"), {
    env: "GITLAB_SKIP_LABELS",
    about: "Merge requests with one of these labels are not reviewed by themselves. Case does not count.",
  }),
  requiredLabels: optional(names("labels"), {
    env: "GITLAB_REQUIRED_LABELS",
    about: "Only merge requests with one of these labels are reviewed by themselves, if set. Case does not count.",
  }),
  minAccessLevel: setting(oneOf("guest", "reporter", "developer", "maintainer", "owner"), {
    default: "developer",
    env: "GITLAB_MIN_ACCESS_LEVEL",
    about:
      "The minimum role in the project of authors whose merge requests and comments are served. Those of other authors trigger nothing.",
  }),
  forks: setting(oneOf("onRequest", "never", "always"), {
    default: "onRequest",
    env: "GITLAB_FORKS",
    about:
      "Merge requests from forks: `onRequest` serves a commit after a member requested it in a comment, `never` none, `always` those of members like any other.",
  }),
};
