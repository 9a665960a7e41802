import { z } from "../schema/index.ts";
import { formatDuration, parseDuration } from "../time/index.ts";
import { type Kind, listKind, notation, settingKind } from "./kind.ts";

/** Names that another system defines, with commas between them. */
export function names(what: string): Kind<readonly string[]> {
  return listKind({
    expects: `${what}, with commas between them`,
    limits: "With commas between several.",
    item: z.string().min(1),
  });
}

const gitlabProject = z.string().regex(/^([1-9]\d*|[\w.+-]+(\/[\w.+-]+)+)$/);

/** Projects on GitLab by their ids or paths, with commas between them. Case does not count in a path. */
export function gitlabProjects(): Kind<readonly string[]> {
  return listKind({
    expects: "projects such as group/app, group/team/tool or 4711, with commas between them",
    limits: "Such as `group/app, 4711`.",
    item: gitlabProject,
  });
}

/** Where polling begins for a project that was never polled: now, or this number of milliseconds before. */
export function startPoint(): Kind<"now" | number> {
  return settingKind({
    expects: "now, or a duration such as 1h for one hour ago",
    limits: "`now`, or a duration.",
    schema: z.union([z.literal("now"), notation(parseDuration)]),
    print: (value) => (value === "now" ? value : formatDuration(value)),
  });
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
  return settingKind({
    expects:
      "projects such as SHOP -> group/shop@main; OPS -> 4711, trigger=Ready, inProgress=Doing, inReview=Review, each key once",
    limits:
      '`KEY -> PROJECT@BRANCH`, with semicolons between several. The project is a path or an id on GitLab; without a branch, its default branch is meant. Statuses of that project alone follow with commas: `, trigger=…, inProgress=…, inReview=…`. JSON as in `{"mappings": {"KEY": {"gitlab_project_id": 1, "target_branch": "main"}}}` is taken, too.',
    schema: notation(parseProjects),
    print: (value) => value.map(printProject).join("; "),
  });
}

function parseProjects(text: string): readonly JiraProject[] | undefined {
  const lines = text.startsWith("{") ? linesInJson(text) : text.split(";").filter((part) => part.trim() !== "");
  const projects = lines.map(parseProject);
  const value = projects.filter((project) => project !== undefined);
  const keys = new Set(value.map(({ project }) => project));
  return value.length > 0 && keys.size === projects.length ? value : undefined;
}

function parseProject(text: string): JiraProject | undefined {
  const [place = "", ...options] = text.split(",").map((part) => part.trim());
  const [, project, repository = "", targetBranch] =
    /^([A-Z][A-Z0-9_]+)\s*->\s*([^\s@]+)(?:@([^\s@]+))?$/.exec(place) ?? [];
  if (!project || !gitlabProject.safeParse(repository).success) return undefined;
  const statuses: Record<string, string> = {};
  for (const option of options) {
    const [, name = "", status = ""] = /^(\w+)\s*=\s*(.+)$/.exec(option) ?? [];
    if (!Object.hasOwn(statusNames, name)) return undefined;
    statuses[statusNames[name as keyof typeof statusNames]] = status;
  }
  return { project, repository, ...(targetBranch && { targetBranch }), ...statuses };
}

const projectMap = z.object({
  mappings: z.record(
    z.string(),
    z.object({ gitlab_project_id: z.union([z.string(), z.number()]), target_branch: z.string().nullish() }),
  ),
});

/** The format of `JIRA_PROJECT_MAP` in other agents. Other fields, such as the clone URL, are read from GitLab instead. */
function linesInJson(text: string): readonly string[] {
  try {
    return Object.entries(projectMap.parse(JSON.parse(text)).mappings).map(([project, entry]) => {
      const { gitlab_project_id: id, target_branch: branch } = entry;
      return `${project} -> ${id}${branch ? `@${branch}` : ""}`;
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
