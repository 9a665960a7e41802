import { join } from "node:path";
import {
  type AccessToken,
  type GitLab,
  gitlabHttp,
  gitWorkshop,
  type Jira,
  jiraHttp,
  startAgent,
} from "../agent/index.ts";
import type { Config } from "../config/index.ts";
import { type Logger, redactingLogger, withoutSecrets } from "../telemetry/index.ts";
import { openSecrets } from "./agent-secrets.ts";
import { openCoder } from "./coder.ts";
import { openCoordination } from "./coordination.ts";
import { openPolling } from "./polling.ts";
import { openToken } from "./secret-file.ts";
import { type Stage, type StageOptions, toStage } from "./stage.ts";

export interface AgentProcessOptions extends StageOptions {
  /** The directory of this process alone. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const remoteLimitMs = 30_000;
const gitLimitMs = 120_000;

/** Starts the agent with the configured GitLab and, if there is one, Jira. */
export async function openAgent(options: AgentProcessOptions): Promise<Stage> {
  const { loaded, client, ledger, clock, random, metrics, env, directory } = options;
  const { config } = loaded;
  const secrets = await openSecrets(config, env);
  const log = redactingLogger(options.log, (text) => withoutSecrets(text, secrets.known()));
  const redact = async (text: string) => withoutSecrets(text, await secrets.all());
  const opened: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const one of opened.splice(0).reverse()) await one();
  };
  try {
    const { url, token } = await openAccount(options);
    const gitlab = gitlabHttp({ url, token, timeLimitMs: remoteLimitMs, clock, random });
    const jira = await openJira(options);
    const workshop = await gitWorkshop({
      directory: join(directory, "workshop"),
      server: { origin: new URL(url).origin, token },
      timeLimitMs: gitLimitMs,
      ...{ env, clock, random, log },
    });
    opened.push(async () => workshop[Symbol.asyncDispose]());
    const coder = await openCoder({ config, client, workshop, env, directory, clock, log });
    const coordination = await openCoordination({ ...options, log, stage: "agent" });
    opened.push(() => coordination.close());
    const { locks } = coordination;
    const agent = startAgent({
      ...{ client, gitlab, jira, workshop, coder, locks, ledger, clock, random, log, metrics },
      settings: agentSettings(config),
      redact,
    });
    opened.push(() => agent.stop({ deadlineMs: 5_000 }));
    opened.push(checkAccounts({ gitlab, jira }, log));
    const polling = openPolling({ ...options, log, config, gitlab, jira, coordination });
    opened.push(() => polling.close());
    return toStage(agent, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Logs at start, and not at the first task, that a server does not respond or rejects the token. The agent runs in any case,
 * because outages end and tokens are replaced. Returns a function that ends the check.
 */
function checkAccounts(servers: { gitlab: GitLab; jira: Jira | undefined }, log: Logger): () => Promise<void> {
  const stop = new AbortController();
  const checks = Object.entries(servers).map(async ([server, client]) => {
    try {
      await client?.self(stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) log.warn("account check failed", { server, error });
    }
  });
  return async () => {
    stop.abort();
    await Promise.all(checks);
  };
}

/** Whether the agent is configured. */
export function hasAgent({ gitlab, agent }: Config): boolean {
  return gitlab.url !== undefined && agent.command !== undefined;
}

interface Account {
  readonly url: string;
  readonly token: AccessToken;
}

async function openAccount({ loaded, clock, log }: AgentProcessOptions): Promise<Account> {
  const { url, token: value, tokenFile: file } = loaded.config.gitlab;
  if (!url) throw new TypeError("gitlab.url (or GITLAB_URL) is not set; set it to the GitLab server of the agent");
  const token = await openToken({ value, file, setting: "gitlab.tokenFile" }, { clock, log });
  if (!token)
    throw new TypeError("the agent has no token of GitLab; set gitlab.token (GITLAB_TOKEN) or gitlab.tokenFile");
  return { url, token };
}

async function openJira({ loaded, clock, random, log }: AgentProcessOptions): Promise<Jira | undefined> {
  const { url, email, apiToken: value, apiTokenFile: file } = loaded.config.jira;
  if (!url) return undefined;
  const token = await openToken({ value, file, setting: "jira.apiTokenFile" }, { clock, log });
  if (!email || !token)
    throw new TypeError(
      "jira.url is set, but jira.email or jira.apiToken (or jira.apiTokenFile) is not: set all three",
    );
  return jiraHttp({ url, email, token, timeLimitMs: remoteLimitMs, clock, random });
}

const accessLevels = { guest: 10, reporter: 20, developer: 30, maintainer: 40, owner: 50 } as const;

function agentSettings({ agent, claims, gitlab, jira }: Config) {
  const { namespace, concurrency, maxAttempts, patienceMs, backoffBaseMs, backoffMaxMs } = agent;
  return {
    ...{ namespace, concurrency, maxAttempts, patienceMs, draftMergeRequests: agent.draftMergeRequests },
    backoff: { baseMs: backoffBaseMs, maxMs: backoffMaxMs, jitter: 0.2 },
    keepFinishedMs: claims.reviewDoneTtlMs,
    minAccessLevel: accessLevels[gitlab.minAccessLevel],
    username: gitlab.username,
    forks: gitlab.forks,
    author: { name: agent.authorName, email: agent.authorEmail },
    statusesOf(issueKey: string) {
      const own = jira.projects?.find(({ project }) => issueKey.startsWith(`${project}-`));
      return {
        trigger: own?.triggerStatus ?? jira.triggerStatus,
        inProgress: own?.inProgressStatus ?? jira.inProgressStatus,
        inReview: own?.inReviewStatus ?? jira.inReviewStatus,
      };
    },
  };
}
