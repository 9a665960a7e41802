import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { openAgent, openGateway } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { type MemoryLedger, memoryLedger } from "../../src/ledger/index.ts";
import { type CodingTask, codingTasks, installCrds } from "../../src/resources/index.ts";
import { type PromMetrics, promMetrics } from "../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import type { MergeRequest, Project, User } from "../doubles/gitlab/model.ts";
import type { FileChanges } from "../doubles/gitlab/repository.ts";
import { type GitLabDouble, startGitLab } from "../doubles/gitlab/start-gitlab.ts";
import type { JiraProject, JiraUser } from "../doubles/jira/model.ts";
import { type JiraDouble, startJira } from "../doubles/jira/start-jira.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { type RecordingLogger, recordingLogger } from "../doubles/recording-logger.ts";
import { type CoderScript, type CoderStep, scriptedCoder } from "../doubles/scripted-coder.ts";
import { testCluster } from "../doubles/test-cluster.ts";

const run = promisify(execFile);

const secret = "the-secret-of-the-webhook";

export interface AgentWorldOptions {
  /** The script of the coder. `folder` is for its records, and for files that it waits for. */
  readonly script?: (folder: string) => CoderScript | readonly CoderStep[];
  readonly agents?: number;
  readonly gateways?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** More variables of the agents' processes. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Settings in a file, in place of the usual ones. */
  readonly yaml?: string;
  /** Whether issues of the Jira project APP are solved in the project on GitLab. */
  readonly jira?: boolean;
  /** Wraps the client of the agents, for example with faults. */
  readonly client?: (client: KubeClient) => KubeClient;
}

/** The namespaces that exist in a cluster: that of the stages, and that of the watermarks. */
const namespaces = ["kubernaut-system", "interlock-watermarks"];

/** Gateways and agents as in production, with doubles of GitLab and Jira. */
export class AgentWorld implements AsyncDisposable {
  readonly clock = systemClock();
  readonly random = systemRandom();
  readonly ledger: MemoryLedger = memoryLedger();
  readonly log: RecordingLogger = recordingLogger();
  readonly metrics: PromMetrics[] = [];
  readonly cluster = testCluster({ clock: this.clock, random: this.random, namespaces });
  readonly client: KubeClient = this.cluster.client();
  readonly gitlab: GitLabDouble;
  readonly jira: JiraDouble;
  readonly directory: string;
  readonly bot: User;
  readonly kim: User;
  readonly project: Project;
  readonly jiraBot: JiraUser;
  /** The project on Jira. */
  readonly issues: JiraProject;
  readonly #options: AgentWorldOptions;
  readonly #open: (() => Promise<unknown>)[] = [];
  readonly gatewayUrls: string[] = [];
  #command: readonly string[] = [];

  private constructor(
    parts: { gitlab: GitLabDouble; jira: JiraDouble; directory: string; bot: User; kim: User; project: Project },
    options: AgentWorldOptions,
  ) {
    this.gitlab = parts.gitlab;
    this.jira = parts.jira;
    this.directory = parts.directory;
    this.bot = parts.bot;
    this.kim = parts.kim;
    this.project = parts.project;
    this.jiraBot = parts.jira.addUser("agent");
    this.issues = parts.jira.addProject("APP");
    this.#options = options;
  }

  static async open(options: AgentWorldOptions = {}): Promise<AgentWorld> {
    const directory = await mkdtemp(join(tmpdir(), "interlock-agent-"));
    // The coder may run as another user, and records its runs in this folder.
    await chmod(directory, 0o1777);
    const gitlab = await startGitLab();
    const bot = gitlab.addUser("copilot");
    const kim = gitlab.addUser("kim");
    const project = await gitlab.addProject({ path: "group/app", files: { "app.ts": lines("one", "two", "three") } });
    const world = new AgentWorld({ gitlab, jira: await startJira(), directory, bot, kim, project }, options);
    await installCrds(world.client);
    world.#command = await scriptedCoder(directory, options.script?.(directory) ?? []);
    for (let i = 0; i < (options.gateways ?? 1); i++) await world.#openGateway(i);
    for (let i = 0; i < (options.agents ?? 1); i++) await world.openAgent();
    gitlab.webhooks.sendTo(
      world.gatewayUrls.map((url) => `${url}/webhook`),
      secret,
    );
    return world;
  }

  /** A merge request that changes `app.ts`, from a branch of its own. */
  async openMergeRequest({
    branch = "topic",
    files = { "app.ts": lines("one", "2", "three") },
    ...more
  }: {
    readonly branch?: string;
    readonly files?: FileChanges;
    readonly title?: string;
  } = {}): Promise<MergeRequest> {
    await this.gitlab.pushAs(this.kim, this.project, branch, files);
    const draft = { sourceBranch: branch, title: more.title ?? branch, author: this.kim };
    return this.gitlab.openMergeRequest(this.project, draft);
  }

  get root(): User {
    return this.gitlab.root;
  }

  /** Opens another agent, with further settings or other rights than those of the shipped roles. */
  async openAgent({
    env = {},
    client = permittedClient(this.#options.client?.(this.client) ?? this.client, "agent"),
  }: {
    readonly env?: Readonly<Record<string, string>>;
    readonly client?: KubeClient;
  } = {}): Promise<{
    close(): Promise<void>;
  }> {
    const { clock, random, ledger, log } = this;
    const metrics = promMetrics();
    this.metrics.push(metrics);
    const agent = await openAgent({
      ...{
        loaded: this.#load(env),
        client,
        ledger,
        clock,
        random,
        log,
        metrics,
      },
      directory: join(this.directory, `agent-${this.#open.length}`),
      env: { PATH: process.env["PATH"], ...this.#options.environment },
    });
    await agent.ready;
    let isOpen = true;
    const close = async () => {
      if (isOpen) await agent.close();
      isOpen = false;
    };
    this.#open.push(close);
    return { close };
  }

  /** Sends a request to GitLab's API as the user kim. */
  async asKim(method: string, path: string): Promise<void> {
    const headers = { "PRIVATE-TOKEN": this.kim.token };
    const { status } = await fetch(`${this.gitlab.url}/api/v4${path}`, { method, headers });
    expect(status).toBeLessThan(300);
  }

  async tasks(): Promise<readonly CodingTask[]> {
    return (await this.client.list(codingTasks)).items;
  }

  /** Waits until at least `count` tasks exist and all have ended. */
  async allEnded(count = 1, timeout = 30_000): Promise<readonly CodingTask[]> {
    await this.gitlab.webhooks.settled();
    await expect
      .poll(
        async () => {
          const tasks = await this.tasks();
          const open = tasks.filter(({ status }) => !status || !("completionTime" in status));
          return tasks.length >= count && open.length === 0
            ? "ended"
            : JSON.stringify(open.map(({ status }) => status));
        },
        { timeout, interval: 20 },
      )
      .toBe("ended");
    return this.tasks();
  }

  /** The notes of the agent on merge requests, without deleted ones. */
  notes() {
    return this.gitlab.whatHappened().notes.filter(({ author, isDeleted }) => author === "copilot" && !isDeleted);
  }

  /** The summary notes of reviews. */
  summaries() {
    return this.notes().filter(({ body }) => body.includes("Code Review Summary"));
  }

  /** The pushes of the agent to branches. */
  pushes() {
    const isBranch = (ref: string) => ref.startsWith("refs/heads/");
    return this.gitlab.whatHappened().pushes.filter(({ user, ref }) => user === "copilot" && isBranch(ref));
  }

  /** Runs git in the repository of the server. */
  async git(...args: readonly string[]): Promise<string> {
    return (await run("git", ["--git-dir", this.project.repository.directory, ...args])).stdout;
  }

  /** The records of the coder, one line of JSON per run. */
  async witnessed(file: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const text = await readFile(join(this.directory, file), "utf8").catch(() => "");
    return text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Creates a file that the coder waits for. */
  async openGate(file: string): Promise<void> {
    await writeFile(join(this.directory, file), "");
  }

  async figure(name: string): Promise<number> {
    const texts = await Promise.all(this.metrics.map((one) => one.text()));
    const found = texts
      .join("\n")
      .split("\n")
      .filter((line) => line.startsWith(name));
    return found.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#open.splice(0).reverse()) await close();
    await this.gitlab.close();
    await this.jira.close();
    await rm(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  #jiraEnv() {
    const { email, token } = this.jiraBot;
    return {
      JIRA_URL: this.jira.url,
      JIRA_EMAIL: email,
      JIRA_API_TOKEN: token,
      JIRA_PROJECT_MAP: "APP -> group/app@main",
      JIRA_TRIGGER_STATUS: "To Do",
      JIRA_POLL_INTERVAL: "1s",
    };
  }

  async #openGateway(n: number): Promise<void> {
    const { clock, random, ledger, log } = this;
    const client = permittedClient(this.client, "gateway");
    const metrics = promMetrics();
    this.metrics.push(metrics);
    const directory = join(this.directory, `gateway-${n}`);
    const gateway = await openGateway({ loaded: this.#load(), client, ledger, directory, clock, random, log, metrics });
    this.#open.push(() => gateway.close());
    this.gatewayUrls.push(gateway.url);
  }

  #load(env: Readonly<Record<string, string>> = {}) {
    const loaded = loadConfig({
      yaml: {
        path: "interlock.yaml",
        text: this.#options.yaml ?? "agent:\n  backoff:\n    base: 50ms\n    max: 200ms\n",
      },
      env: {
        GATEWAY_LISTEN: "127.0.0.1:0",
        GATEWAY_TOKENS: "test sixteen-letters-or-more",
        GITLAB_URL: this.gitlab.url,
        GITLAB_TOKEN: this.bot.token,
        GITLAB_WEBHOOK_SECRET: secret,
        AGENT_GITLAB_USERNAME: "copilot",
        AGENT_COMMAND: JSON.stringify(this.#command),
        ...(this.#options.jira ? this.#jiraEnv() : {}),
        ...this.#options.env,
        ...env,
      },
    });
    if (loaded.kind !== "loaded") throw new Error(loaded.problems.join("\n"));
    return loaded;
  }
}

export function lines(...all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join("");
}
