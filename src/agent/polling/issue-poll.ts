import { claimKeys, type TaskDraft, type TaskIntake } from "../../tasks/index.ts";
import type { GitLab } from "../gitlab/gitlab.ts";
import { isSameStatus, type Jira, type JiraIssue } from "../jira/jira.ts";
import { ItemIntake } from "./item-intake.ts";
import { type PollerOptions, pollAsLeader, pollProjects } from "./poll-loop.ts";

/** Maps a project of Jira to the project of GitLab in which its issues are solved. */
export interface IssueSource {
  /** Key of the project in Jira. */
  readonly project: string;
  /** Path or id of the project on GitLab. */
  readonly repository: string;
  /** The default branch of that project unless given. */
  readonly targetBranch?: string;
  /** Issues in this status are solved. */
  readonly triggerStatus: string;
}

export interface IssuePollOptions {
  readonly jira: Jira;
  readonly gitlab: GitLab;
  readonly source: IssueSource;
  readonly intake: TaskIntake;
  readonly items: ItemIntake;
}

/**
 * Returns a function that finds the issues of one project in the trigger status, once per call; it rejects with an error
 * that concerns the whole project. The search index may be outdated, so the issue itself decides. The time at which it
 * entered the status makes it one task, however often it is found.
 */
function issuePoll(options: IssuePollOptions): (signal: AbortSignal) => Promise<"polled"> {
  const { jira, source } = options;
  /** By key, the version of the issue that is processed. It only saves requests. */
  let processed: ReadonlyMap<string, string> = new Map();
  return async (signal) => {
    const found = await jira.issuesIn(source.project, source.triggerStatus, signal);
    const finished = new Map<string, string>();
    for (const { key, updatedAt } of found) {
      const isFinished = processed.get(key) === updatedAt || (await processIssue(key, options, signal));
      if (isFinished) finished.set(key, updatedAt);
    }
    processed = finished;
    return "polled";
  };
}

/** Returns whether this version of the issue is processed. */
async function processIssue(key: string, options: IssuePollOptions, signal: AbortSignal): Promise<boolean> {
  const { jira, items, source } = options;
  const id = `issue ${key}`;
  if (items.isAbandoned(id)) return true;
  const found = await items.read(id, () => jira.issue(key, signal));
  if (found.kind === "unreadable") return found.finished;
  const { value: issue } = found;
  if (!isSameStatus(issue.status, source.triggerStatus)) return true;
  const subject = { object: "issue", issue: key, author: issue.reporter } as const;
  return items.create(`${id} since ${issue.statusSince}`, await draftIssueTask(issue, options, signal), subject);
}

async function draftIssueTask(
  { key, summary, description, statusSince, reporter }: JiraIssue,
  { jira, gitlab, source, intake }: IssuePollOptions,
  signal: AbortSignal,
): Promise<TaskDraft> {
  // Read each time: the project may get another path or default branch.
  const { id, path, defaultBranch } = await gitlab.project(source.repository, signal);
  return {
    type: "Issue",
    project: { host: gitlab.host, id, path },
    claimKey: claimKeys.issue(jira.site, key, statusSince),
    source: "poll",
    ...(reporter === undefined ? {} : { requestedBy: reporter.slice(0, 253) }),
    receivedTime: intake.now(),
    issue: { site: jira.site, key, since: statusSince, summary, description },
    branch: `agent/${key.toLowerCase()}`,
    targetBranch: source.targetBranch ?? defaultBranch,
  };
}

export interface JiraPollerOptions extends PollerOptions {
  readonly jira: Jira;
  readonly sources: readonly IssueSource[];
}

/** Polls the projects of Jira until `signal` aborts, in one process at a time. */
export async function pollJira(options: JiraPollerOptions): Promise<void> {
  const { jira, sources, intake, log } = options;
  const term = async (_lease: unknown, signal: AbortSignal) => {
    const items = new ItemIntake(intake, log);
    const polls = sources.map((source) => [source.project, issuePoll({ ...options, source, items })] as const);
    await pollProjects("jira", new Map(polls), options, signal);
  };
  await pollAsLeader("jira", jira.site, term, options);
}
