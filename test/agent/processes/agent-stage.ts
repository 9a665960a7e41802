import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { openClient } from "../../../src/app/index.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { type CodingTask, codingTasks, installCrds } from "../../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";
import type { Project, User } from "../../doubles/gitlab/model.ts";
import { type GitLabDouble, startGitLab } from "../../doubles/gitlab/start-gitlab.ts";
import type { JiraUser, Workflow } from "../../doubles/jira/model.ts";
import { type JiraDouble, startJira } from "../../doubles/jira/start-jira.ts";
import { type CoderScript, type CoderStep, scriptedCoder } from "../../doubles/scripted-coder.ts";
import { until } from "../../executor/processes/until.ts";
import { StageProcess } from "../../remediation/stage-process.ts";
import { type ApiServer, startApiServer } from "../../services/api-server.ts";
import { bundle, interlockEntry, type Mutation } from "../../services/bundle.ts";
import { freePort } from "../../services/free-port.ts";
import { interlockProgram } from "../../services/program.ts";
import { type RedisService, startRedis } from "../../services/redis.ts";

const run = promisify(execFile);

export type Backend = "kubernetes" | "redis";

export interface AgentStageOptions {
  /** Where locks, claims and watermarks live. */
  readonly backend: Backend;
  /** How long a lock outlives its holder. */
  readonly locksTtl?: string;
  /** Mistakes to build into the program. */
  readonly mutations?: readonly Mutation[];
}

type Environment = Readonly<Record<string, string>>;

const defaultNamespace = "kubernaut-system";

/** Only they know these. */
export const secrets = {
  gitlab: "glpat-known-to-the-agent-alone",
  jira: "jira-token-known-to-the-agent-alone",
  webhook: "webhook-secret-of-the-gateways",
} as const;

/**
 * `interlock api`, Redis if it is wanted, gateways and agents, each a process of its own, with a GitLab and a Jira that
 * are servers in this one.
 */
export class AgentStage implements AsyncDisposable {
  readonly directory: string;
  readonly api: ApiServer;
  readonly redis: RedisService | undefined;
  readonly client: KubeClient;
  readonly gitlab: GitLabDouble;
  readonly jira: JiraDouble;
  readonly kim: User;
  readonly #bot: { readonly gitlab: User; readonly jira: JiraUser };
  readonly #program: string;
  readonly #options: AgentStageOptions;
  readonly #processes: StageProcess[] = [];
  /** Who has which database of Redis. */
  readonly #databases: string[] = [];

  private constructor(
    parts: Pick<AgentStage, "directory" | "api" | "redis" | "client" | "gitlab" | "jira"> & {
      readonly program: string;
    },
    options: AgentStageOptions,
  ) {
    this.directory = parts.directory;
    this.api = parts.api;
    this.redis = parts.redis;
    this.client = parts.client;
    this.gitlab = parts.gitlab;
    this.jira = parts.jira;
    this.#program = parts.program;
    this.#options = options;
    this.kim = this.gitlab.addUser("kim");
    const gitlab = this.gitlab.addUser("copilot", { token: secrets.gitlab });
    this.#bot = { gitlab, jira: this.jira.addUser("copilot", { token: secrets.jira }) };
  }

  static async open(options: AgentStageOptions): Promise<AgentStage> {
    const directory = mkdtempSync(join(tmpdir(), "interlock-agents-"));
    // The coder may run as another user, and records its runs in this folder.
    chmodSync(directory, 0o1777);
    const program = options.mutations
      ? await bundle(interlockEntry, join(directory, "interlock.mjs"), options.mutations)
      : await interlockProgram();
    const redis = options.backend === "redis" ? await startRedis(redisOptions) : undefined;
    const api = await startApiServer({ program });
    const client = await openClient(api.kubeconfigFile, {
      env: process.env,
      clock: systemClock(),
      random: systemRandom(),
    });
    await installCrds(client);
    const [gitlab, jira] = [await startGitLab(), await startJira()];
    return new AgentStage({ directory, api, redis, client, gitlab, jira, program }, options);
  }

  /** One more agent. With its own namespace, its tasks and locks are apart from those of others. */
  agent(name: string, env: Environment, apart?: string): StageProcess {
    return this.#process("agent", name, { env, apart });
  }

  /** Gateways, once they take webhooks; with the addresses for these. */
  async gateways(count: number): Promise<readonly string[]> {
    const urls = [];
    for (let i = 0; i < count; i++) {
      const port = await freePort();
      this.#process("gateway", `gateway-${i}`, { env: { GATEWAY_LISTEN: `127.0.0.1:${port}` } }).start();
      urls.push(`http://127.0.0.1:${port}`);
    }
    for (const url of urls) await this.#answers(url);
    return urls.map((url) => `${url}/webhook`);
  }

  /** For agents that solve the issues of a project of Jira. */
  solving(key: string, { path }: Project): Environment {
    const { email, token } = this.#bot.jira;
    const account = { JIRA_URL: this.jira.url, JIRA_EMAIL: email, JIRA_API_TOKEN: token };
    return { ...account, JIRA_PROJECT_MAP: `${key} -> ${path}`, JIRA_POLL_INTERVAL: "1s" };
  }

  async addProject(path: string): Promise<Project> {
    return this.gitlab.addProject({ path, files: { "app.ts": "one\ntwo\nthree\n" } });
  }

  /** A command line for `AGENT_COMMAND`. */
  async command(script: CoderScript | readonly CoderStep[]): Promise<string> {
    return JSON.stringify(await scriptedCoder(this.directory, script));
  }

  async tasks(namespace = defaultNamespace): Promise<readonly CodingTask[]> {
    return (await this.client.list(codingTasks, { namespace })).items;
  }

  /** Waits until `count` tasks are there and all of them have ended. */
  async allEnded(
    count: number,
    {
      namespace,
      withinMs = 60_000,
      logsOf = "",
    }: { readonly namespace?: string; readonly withinMs?: number; readonly logsOf?: string } = {},
  ) {
    let tasks: readonly CodingTask[] = [];
    const look = async () => {
      tasks = await this.tasks(namespace);
      return tasks.length >= count && tasks.every(hasEnded) ? tasks : undefined;
    };
    return until(`${count} tasks have ended`, look, { withinMs }).catch((cause: Error) => {
      const found = tasks.map(({ spec, status }) => `${spec.claimKey}: ${JSON.stringify(status)}`).join("\n");
      throw new Error(`${cause.message}\n${found}\n${this.logs(3_000, logsOf)}`, { cause });
    });
  }

  /** The notes of the agents on merge requests of a project, without deleted ones. */
  notes({ path }: Project) {
    const { notes } = this.gitlab.whatHappened();
    return notes.filter(({ project, author, isDeleted }) => project === path && author === "copilot" && !isDeleted);
  }

  /** Runs git in the repository of the server. */
  async git({ repository }: Project, ...args: readonly string[]): Promise<string> {
    return (await run("git", ["--git-dir", repository.directory, ...args])).stdout;
  }

  /** The records of the coder, one line of JSON per run. */
  witnessed(file: string): readonly Readonly<Record<string, unknown>>[] {
    const all = readdirSync(this.directory).includes(file) ? readFileSync(join(this.directory, file), "utf8") : "";
    return all
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Makes a file that the coder waits for. */
  openGate(file: string): void {
    writeFileSync(join(this.directory, file), "");
  }

  /** Everything that processes have logged, or the end of it. */
  logs(lastOfEach = 3_000, of = ""): string {
    const files = readdirSync(this.directory).filter((name) => name.startsWith(of) && name.endsWith(".log"));
    return files
      .map((name) => `── ${name}\n${readFileSync(join(this.directory, name), "utf8").slice(-lastOfEach)}`)
      .join("\n");
  }

  get ledgerDirectory(): string {
    return join(this.directory, "ledger");
  }

  /** The numbers of all processes of ours. */
  get pids(): readonly number[] {
    return this.#processes.flatMap(({ pid }) => pid ?? []);
  }

  /** SIGKILL for all agents and gateways. */
  async killAll(): Promise<void> {
    for (const one of this.#processes) {
      one.resume();
      await one.kill();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killAll();
    await this.gitlab.close();
    await this.jira.close();
    await this.api.stop();
    await this.redis?.stop();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  #process(
    stage: "agent" | "gateway",
    name: string,
    { env, apart }: { readonly env: Environment; readonly apart?: string | undefined },
  ): StageProcess {
    const config = this.#configFile(name, apart);
    const own = ["--kubeconfig", this.api.kubeconfigFile, "--config", config, "--data", join(this.directory, name)];
    const place = { args: [this.#program, stage, ...own], logFile: join(this.directory, `${name}.log`) };
    const made = new StageProcess(name, { ...place, env: { ...this.#environment(apart), ...env } });
    this.#processes.push(made);
    return made;
  }

  /** Everything that has to be waited for is short. */
  #configFile(name: string, namespace = defaultNamespace): string {
    const file = join(this.directory, `${name}.yaml`);
    const config = {
      agent: { namespace, backoff: { base: "50ms", max: "200ms" }, workDir: join(this.directory, "coder") },
      locks: { ttl: this.#options.locksTtl ?? "10s", namespace },
      ledger: { dir: this.ledgerDirectory },
    };
    mkdirSync(this.ledgerDirectory, { recursive: true });
    writeFileSync(file, stringify(config));
    return file;
  }

  #environment(apart = defaultNamespace): Environment {
    const { gitlab } = this.#bot;
    if (!this.#databases.includes(apart)) this.#databases.push(apart);
    return {
      STATE_BACKEND: this.#options.backend,
      ...(this.redis && { REDIS_URL: `${this.redis.url}/${this.#databases.indexOf(apart)}` }),
      GATEWAY_TOKENS: "test sixteen-letters-or-more",
      GITLAB_URL: this.gitlab.url,
      GITLAB_TOKEN: gitlab.token,
      GITLAB_WEBHOOK_SECRET: secrets.webhook,
      AGENT_GITLAB_USERNAME: gitlab.username,
    };
  }

  async #answers(url: string): Promise<void> {
    const isThere = () =>
      fetch(`${url}/metrics`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(`${url} answers`, isThere);
  }
}

export function hasEnded({ status }: CodingTask): boolean {
  return status !== undefined && "completionTime" in status;
}

const redisOptions = { persistence: "always", args: ["--databases", "1000"] } as const;

/** The plain workflow, with the trigger status. */
export const agentWorkflow: Workflow = {
  statuses: [
    { id: "10000", name: "AI Ready", category: "new" },
    { id: "10001", name: "In Progress", category: "indeterminate" },
    { id: "10002", name: "In Review", category: "indeterminate" },
  ],
  transitions: [
    { id: "21", name: "Start work", from: "AI Ready", to: "In Progress" },
    { id: "31", name: "Ask for review", from: "In Progress", to: "In Review" },
  ],
};
