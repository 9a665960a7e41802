import { type GitLab, type IssueSource, type Jira, pollCounter, pollGitLab, pollJira } from "../agent/index.ts";
import type { Config } from "../config/index.ts";
import { observeWatermarks } from "../coordination/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { taskIntake } from "../tasks/index.ts";
import type { Coordination } from "./coordination.ts";
import type { ProcessTools } from "./stage.ts";

export interface PollingOptions extends ProcessTools {
  readonly config: Config;
  readonly client: KubeClient;
  readonly ledger: Ledger;
  readonly coordination: Coordination;
  readonly gitlab: GitLab;
  /** Undefined: there is no Jira. */
  readonly jira: Jira | undefined;
}

/** Starts to poll GitLab and Jira for changes, as configured. */
export function openPolling(options: PollingOptions): { close(): Promise<void> } {
  const stop = new AbortController();
  const { client, ledger, log } = options;
  const intake = taskIntake({ client, ledger, namespace: options.config.agent.namespace, log });
  const common = {
    ...options.coordination,
    ...options,
    intake,
    countPoll: pollCounter(options.metrics),
    signal: stop.signal,
  };
  const { gitlab, jira, watermarks } = options.config;
  const polling: Promise<void>[] = [];
  if (gitlab.poll) {
    const { reviewDrafts, skipLabels = [], requiredLabels, username } = gitlab;
    polling.push(
      pollGitLab({
        ...common,
        projects: gitlab.projects ?? [],
        rules: { reviewDrafts, skipLabels, requiredLabels, username },
        intervalMs: gitlab.pollIntervalMs,
        from: gitlab.pollFrom,
        overlapMs: watermarks.overlapMs,
        observe: observeWatermarks({ ...options, stage: "agent" }),
      }),
    );
  }
  if (options.jira) {
    polling.push(
      pollJira({ ...common, jira: options.jira, sources: issueSources(jira), intervalMs: jira.pollIntervalMs }),
    );
  }
  return {
    async close() {
      stop.abort();
      await Promise.all(polling);
    },
  };
}

function issueSources({ projects = [], triggerStatus }: Config["jira"]): readonly IssueSource[] {
  return projects.map((project) => ({ triggerStatus, ...project }));
}
