import { setMaxListeners } from "node:events";
import { keyOf, type LeaderWork, type Locks, runAsLeader } from "../../coordination/index.ts";
import type { TaskIntake } from "../../tasks/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Clock, Random } from "../../time/index.ts";
import type { GitLab } from "../gitlab/gitlab.ts";
import type { Jira } from "../jira/jira.ts";
import { FailureCounter } from "./failure-counter.ts";
import { IssuePoll, type IssueSource } from "./issue-poll.ts";
import type { PollMetrics } from "./poll-loop.ts";
import { pollRepeatedly } from "./poll-loop.ts";

export interface JiraPollerOptions {
  readonly jira: Jira;
  readonly gitlab: GitLab;
  readonly sources: readonly IssueSource[];
  readonly intervalMs: number;
  readonly intake: TaskIntake;
  readonly locks: Locks;
  readonly metrics: PollMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Polls the projects of Jira until `signal` aborts, in one process at a time. */
export async function pollJira(options: JiraPollerOptions): Promise<void> {
  const { jira, sources, intervalMs, metrics, locks, clock, random, signal, log } = options;
  const work: LeaderWork = async (_lease, signal) => {
    // Every project listens to this signal, and more than ten listeners are not a leak.
    setMaxListeners(0, signal);
    const failureCounter = new FailureCounter(log);
    await Promise.all(
      sources.map((source, i) => {
        const issues = new IssuePoll({ ...options, source, failureCounter });
        return pollRepeatedly((signal) => issues.poll(signal), {
          clock,
          random,
          signal,
          intervalMs,
          firstInMs: (i * intervalMs) / sources.length,
          polled: () => metrics.polled("jira"),
          failed(error, nextInMs) {
            metrics.failed("jira");
            log.warn("project poll failed", { project: source.project, nextInMs: Math.round(nextInMs), error });
          },
        });
      }),
    );
  };
  const failed = (error: unknown) => log.warn("jira polling failed", { error });
  const purpose = "poll Jira";
  await runAsLeader(locks, keyOf("jira-poll", jira.site), work, { clock, random, signal, purpose, events: { failed } });
}
