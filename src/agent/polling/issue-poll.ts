import { claimKeys, type TaskDraft, type TaskIntake } from "../../tasks/index.ts";
import type { GitLab, Project } from "../gitlab/gitlab.ts";
import { type FoundIssue, isSameStatus, type Jira, type JiraIssue } from "../jira/jira.ts";
import type { ItemIntake } from "./item-intake.ts";

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
 * Finds the issues of one project in the trigger status. The search index may be outdated, so the issue itself decides. The
 * time at which it entered the status makes it one task, however often it is found.
 */
export class IssuePoll {
  readonly #options: IssuePollOptions;
  #repository: Project | undefined;
  /** By key, the version of the issue that is processed. It only saves requests. */
  #processed = new Map<string, string>();

  constructor(options: IssuePollOptions) {
    this.#options = options;
  }

  /** Runs one cycle. Throws an error that concerns the whole project. */
  async poll(signal: AbortSignal): Promise<"polled"> {
    const { jira, source } = this.#options;
    const found = await jira.issuesIn(source.project, source.triggerStatus, signal);
    const processed = new Map<string, string>();
    for (const issue of found) {
      const isDone = this.#processed.get(issue.key) === issue.updatedAt || (await this.#process(issue, signal));
      if (isDone) processed.set(issue.key, issue.updatedAt);
    }
    this.#processed = processed;
    return "polled";
  }

  /** Returns whether the issue is processed, as long as it does not change. */
  async #process({ key }: FoundIssue, signal: AbortSignal): Promise<boolean> {
    const { jira, items, source } = this.#options;
    const id = `issue ${key}`;
    if (items.isAbandoned(id)) return true;
    const found = await items.read(id, () => jira.issue(key, signal));
    if (found.kind === "unreadable") return found.finished;
    const { value: issue } = found;
    if (!isSameStatus(issue.status, source.triggerStatus)) return true;
    const subject = { object: "issue", issue: key, author: issue.reporter } as const;
    return items.create(`${id} since ${issue.statusSince}`, await this.#draft(issue, signal), subject);
  }

  async #draft(issue: JiraIssue, signal: AbortSignal): Promise<TaskDraft> {
    const { jira, gitlab, source, intake } = this.#options;
    const { key, summary, description, statusSince, reporter } = issue;
    this.#repository ??= await gitlab.project(source.repository, signal);
    const { id, path, defaultBranch } = this.#repository;
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
}
