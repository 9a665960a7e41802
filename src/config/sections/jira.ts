import { type JiraProject, jiraProjects } from "../agent-kinds.ts";
import { duration, file, httpUrl, secret, text } from "../kinds.ts";
import type { Secret } from "../secret.ts";
import { optional, setting } from "../setting.ts";

export const jira = {
  url: optional<string>({
    kind: httpUrl(),
    env: "JIRA_URL",
    about: "The Jira Cloud site whose issues the agent solves.",
  }),
  email: optional<string>({
    kind: text("the address of an account"),
    env: "JIRA_EMAIL",
    about: "The account of the agent there.",
  }),
  apiToken: optional<Secret>({
    kind: secret("an API token of that account"),
    env: "JIRA_API_TOKEN",
    about: "Its API token.",
  }),
  apiTokenFile: optional<string>({
    kind: file(),
    env: "JIRA_API_TOKEN_FILE",
    about: "A file with that token, instead. It is read again every few seconds, and when Jira refuses the token.",
  }),
  projects: optional<readonly JiraProject[]>({
    kind: jiraProjects(),
    env: "JIRA_PROJECT_MAP",
    about: "In which repository the issues of which project are solved.",
  }),
  triggerStatus: setting({
    kind: text("the name of a status"),
    default: "AI Ready",
    env: "JIRA_TRIGGER_STATUS",
    about: "An issue in this status asks to be solved. Moved there again, it asks again.",
  }),
  inProgressStatus: setting({
    kind: text("the name of a status"),
    default: "In Progress",
    env: "JIRA_IN_PROGRESS_STATUS",
    about: "Where an issue is moved when the work on it begins.",
  }),
  inReviewStatus: setting({
    kind: text("the name of a status"),
    default: "In Review",
    env: "JIRA_IN_REVIEW_STATUS",
    about: "Where it is moved when its merge request is there.",
  }),
  pollIntervalMs: setting({
    kind: duration({ atLeast: "1s" }),
    default: "30s",
    env: "JIRA_POLL_INTERVAL",
    about: "How often Jira is polled for issues in that status.",
  }),
};
