import { formatDuration, parseDuration } from "../time/index.ts";
import { type Kind, type ParsedSetting, wrong } from "./kinds.ts";

/** Things that somebody else named, with commas between them. */
export function names(what: string): Kind<readonly string[]> {
  const expects = `${what}, with commas between them`;
  return {
    expects,
    limits: "With commas between several.",
    read(text) {
      const parts = text.split(",").map((part) => part.trim());
      return parts.includes("") ? wrong(text, `is not ${expects}`, expects) : { kind: "value", value: parts };
    },
    print: (value) => value.join(", "),
  };
}

/** Projects on GitLab by their ids or paths, with commas between them. Case does not count in a path. */
export function gitlabProjects(): Kind<readonly string[]> {
  const expects = "projects such as group/app, group/team/tool or 4711, with commas between them";
  return {
    expects,
    limits: "Such as `group/app, 4711`.",
    read(text) {
      const parts = text.split(",").map((part) => part.trim());
      return parts.every(isProject) ? { kind: "value", value: parts } : wrong(text, `is not ${expects}`, expects);
    },
    print: (value) => value.join(", "),
  };
}

function isProject(text: string): boolean {
  return /^([1-9]\d*|[\w.+-]+(\/[\w.+-]+)+)$/.test(text);
}

/** Where something begins that was never read before: now, or so many milliseconds before. */
export function beginning(): Kind<"now" | number> {
  const expects = "now, or a duration such as 1h for what was an hour ago";
  return {
    expects,
    limits: "`now`, or a duration.",
    read(text) {
      if (text === "now") return { kind: "value", value: "now" };
      const ms = parseDuration(text);
      return ms === undefined ? wrong(text, `is not ${expects}`, expects) : { kind: "value", value: ms };
    },
    print: (value) => (value === "now" ? value : formatDuration(value)),
  };
}

/** Where the issues of a Jira project are solved. */
export interface JiraProject {
  /** Key of the project in Jira. */
  readonly project: string;
  /** Id or path of the project on GitLab. */
  readonly repository: string;
  /** The branch that merge requests go to; the project's default branch unless given. */
  readonly targetBranch?: string;
  /** What statuses are called in this project, where that is different. */
  readonly triggerStatus?: string;
  readonly inProgressStatus?: string;
  readonly inReviewStatus?: string;
}

const statusNames = { trigger: "triggerStatus", inProgress: "inProgressStatus", inReview: "inReviewStatus" } as const;

/** Jira projects and their repositories, with semicolons between them. */
export function jiraProjects(): Kind<readonly JiraProject[]> {
  const expects =
    "projects such as SHOP -> group/shop@main; OPS -> 4711, trigger=Ready, inProgress=Doing, inReview=Review, each key once";
  return {
    expects,
    limits:
      '`KEY -> PROJECT@BRANCH`, with semicolons between several. The project is a path or an id on GitLab; without a branch, its default branch is meant. Statuses of that project alone follow with commas: `, trigger=…, inProgress=…, inReview=…`. JSON as in `{"mappings": {"KEY": {"gitlab_project_id": 1, "target_branch": "main"}}}` is taken, too.',
    read(text) {
      const projects = text.startsWith("{") ? projectsInJson(text) : text.split(";").filter(isWritten).map(projectIn);
      const value = projects.filter((project) => project !== undefined);
      const keys = new Set(value.map(({ project }) => project));
      const areRight = value.length > 0 && value.length === projects.length && keys.size === value.length;
      return areRight ? { kind: "value", value } : notProjects(text, expects);
    },
    print: (value) => value.map(printProject).join("; "),
  };
}

/** A clone URL in the JSON form may hold a token, so nothing of that is repeated. */
function notProjects(text: string, expects: string): ParsedSetting<never> {
  return text.startsWith("{")
    ? { kind: "wrong", wrong: "is not a mapping of projects", instead: expects }
    : wrong(text, `is not ${expects}`, expects);
}

function isWritten(text: string): boolean {
  return text.trim() !== "";
}

function projectIn(text: string): JiraProject | undefined {
  const [place = "", ...options] = text.split(",").map((part) => part.trim());
  const [, project, repository = "", targetBranch] =
    /^([A-Z][A-Z0-9_]+)\s*->\s*([^\s@]+)(?:@([^\s@]+))?$/.exec(place) ?? [];
  if (!project || !isProject(repository)) return undefined;
  const statuses: Record<string, string> = {};
  for (const option of options) {
    const [, name = "", status = ""] = /^(\w+)\s*=\s*(.+)$/.exec(option) ?? [];
    if (!(name in statusNames)) return undefined;
    statuses[statusNames[name as keyof typeof statusNames]] = status;
  }
  return { project, repository, ...(targetBranch && { targetBranch }), ...statuses };
}

/** What other agents call `JIRA_PROJECT_MAP`. Whatever else is in an entry, such as its clone URL, GitLab says itself. */
function projectsInJson(text: string): readonly (JiraProject | undefined)[] {
  try {
    const { mappings } = JSON.parse(text) as { readonly mappings: object };
    return Object.entries(mappings).map(([project, entry]) => {
      const { gitlab_project_id: id, target_branch: branch } = entry as Record<string, unknown>;
      return projectIn(`${project} -> ${id}${branch === undefined ? "" : `@${branch}`}`);
    });
  } catch {
    return [];
  }
}

function printProject({ project, repository, targetBranch, ...statuses }: JiraProject): string {
  const options = Object.entries(statusNames).flatMap(([name, field]) =>
    statuses[field] ? [`, ${name}=${statuses[field]}`] : [],
  );
  return `${project} -> ${repository}${targetBranch ? `@${targetBranch}` : ""}${options.join("")}`;
}
