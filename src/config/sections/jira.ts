import { jiraProjects } from "../agent-kinds.ts";
import { duration, file, secret, text } from "../kinds.ts";
import { optional, setting } from "../setting.ts";
import { httpUrl } from "../url-kinds.ts";

export const jira = {
  url: optional(httpUrl(), { env: "JIRA_URL", about: "The Jira Cloud site whose issues the agent solves." }),
  email: optional(text("the address of an account"), { env: "JIRA_EMAIL", about: "The account of the agent in Jira." }),
  apiToken: optional(secret("an API token of that account"), {
    env: "JIRA_API_TOKEN",
    about: "The API token of the agent's account.",
  }),
  apiTokenFile: optional(file(), {
    env: "JIRA_API_TOKEN_FILE",
    about: "A file with the API token, instead. It is read again every few seconds, and when Jira rejects the token.",
  }),
  projects: optional(jiraProjects(), {
    env: "JIRA_PROJECT_MAP",
    about: "The projects of Jira, each with the repository in which its issues are solved.",
  }),
  triggerStatus: setting(text("the name of a status"), {
    default: "AI Ready",
    env: "JIRA_TRIGGER_STATUS",
    about: "Issues in this status are solved. To repeat an issue, move it to this status again.",
  }),
  inProgressStatus: setting(text("the name of a status"), {
    default: "In Progress",
    env: "JIRA_IN_PROGRESS_STATUS",
    about: "The status that an issue is moved to when the work on it begins.",
  }),
  inReviewStatus: setting(text("the name of a status"), {
    default: "In Review",
    env: "JIRA_IN_REVIEW_STATUS",
    about: "The status that an issue is moved to when its merge request is open.",
  }),
  pollIntervalMs: setting(duration({ min: "1s" }), {
    default: "30s",
    env: "JIRA_POLL_INTERVAL",
    about: "How often Jira is polled for issues in `jira.triggerStatus`.",
  }),
};
