import type { Jira } from "../jira/jira.ts";
import { type IssueSource, issuePoll } from "./issue-poll.ts";
import { ItemIntake } from "./item-intake.ts";
import { type PollerOptions, pollAsLeader, pollProjects } from "./poll-loop.ts";

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
