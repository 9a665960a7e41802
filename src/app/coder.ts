import { mkdir, readFile, realpath } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import {
  type Coder,
  type CoderLimits,
  findIsolation,
  gapsOf,
  jobCoder,
  openLocalCoder,
  type Workshop,
} from "../agent/index.ts";
import { type Config, Secret } from "../config/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Clock } from "../time/index.ts";

export interface CoderProcessOptions {
  readonly config: Config;
  /** Where Jobs are made, if they are. */
  readonly client: KubeClient;
  readonly workshop: Pick<Workshop, "fetchCommit" | "checkout" | "patchOf">;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What belongs to this process, and what else the coding agent must not see. */
  readonly hidden: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** The coding agent that the configuration names. */
export async function openCoder(options: CoderProcessOptions): Promise<Coder> {
  return options.config.agent.executor === "job" ? await openInJobs(options) : await openHere(options);
}

async function openInJobs({ config, client, clock }: CoderProcessOptions): Promise<Coder> {
  const { agent, gitlab } = config;
  if (!agent.command || !agent.jobImage || !gitlab.url) {
    throw new TypeError("agent.executor is job: set agent.command, agent.jobImage and gitlab.url, too");
  }
  const { patch, maxOutputBytes, maxAddedFiles } = coderLimits(config);
  return jobCoder({
    client,
    settings: {
      namespace: agent.jobNamespace,
      command: agent.command,
      image: agent.jobImage,
      ownImage: agent.jobOwnImage,
      secret: agent.jobSecret,
      tokenSecret: agent.jobTokenSecret,
      serviceAccount: agent.jobServiceAccount,
      gitlabUrl: gitlab.url,
      timeoutMs: agent.timeoutMs,
      maxDiskBytes: agent.maxDisk,
      resources: { cpu: agent.jobCpu, memory: agent.jobMemory },
    },
    ...{ maxOutputBytes, maxAddedFiles, patch, clock },
    secrets: await openSecrets(config),
  });
}

/** Says what the agent is not kept from. */
async function openHere({ config, workshop, env, hidden, clock, log }: CoderProcessOptions): Promise<Coder> {
  const { command, passEnvironment = [], user, network, isolation: wanted, workDir } = config.agent;
  if (!command)
    throw new TypeError("agent.command is not set: say which coding agent to run. See docs/coding-agents.md");
  const directory = await ownFolder(workDir ?? join(tmpdir(), `interlock-coder-${userInfo().uid}`));
  const wish = { user, network: network === "host" };
  const isolation = await findIsolation(wish, directory);
  if (wanted === "required" && (!isolation.namespaces || isolation.network !== wish.network)) {
    throw new TypeError("agent.isolation is required, but neither root nor user namespaces are allowed here");
  }
  for (const gap of gapsOf(isolation, wish)) log.warn("coding agent is not kept apart", { gap });
  return await openLocalCoder({
    workshop,
    command,
    environment: chosen(env, passEnvironment),
    limits: coderLimits(config),
    secrets: await openSecrets(config),
    directory,
    hidden: [...hidden, ...secretFiles(config), "/var/run/secrets", "/run/secrets"],
    isolation,
    clock,
    log,
  });
}

function coderLimits({ agent }: Config): CoderLimits {
  const { timeoutMs, maxOutput, maxDisk, maxDiskFiles, maxPatch, maxFiles, protectedPaths } = agent;
  return {
    timeoutMs,
    maxOutputBytes: maxOutput,
    maxAddedBytes: maxDisk,
    maxAddedFiles: maxDiskFiles,
    patch: { maxBytes: maxPatch, maxFiles, protectedPaths },
  };
}

async function ownFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true, mode: 0o711 });
  // What is mounted over it later is found by this name.
  return await realpath(path);
}

function chosen(env: CoderProcessOptions["env"], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

function secretFiles({ gitlab, jira, gateway, notify, azure, objects }: Config): readonly string[] {
  const files = [gitlab.tokenFile, gitlab.webhookSecretFile, jira.apiTokenFile, gateway.tokenFile];
  const others = [notify.webhookSecretFile, notify.slackUrlFile, azure.federatedTokenFile, objects.kubeconfig];
  return [...files, ...others].filter((file) => file !== undefined);
}

/** Every secret that we were ever told, longest first: one may be part of another. Files change, so they are read again. */
async function openSecrets(config: Config): Promise<() => Promise<readonly string[]>> {
  const values = Object.values(config).flatMap((section) => Object.values(section as object));
  const fixed = values.flatMap((value) => (value instanceof Secret ? [value.reveal()] : []));
  const { gateway, gitlab } = config;
  const told = new Set(fixed.flatMap((text) => [text, ...passwordIn(text)]));
  for (const token of tokensIn(gateway.tokens?.reveal() ?? "")) told.add(token);
  const all = async () => {
    for (const file of secretFiles(config)) {
      const text = await readFile(file, "utf8").catch(() => "");
      const isList = file === gateway.tokenFile || file === gitlab.webhookSecretFile;
      for (const one of [text.trim(), ...(isList ? tokensIn(text) : [])]) told.add(one);
    }
    // What is very short occurs in everything.
    return [...told].filter(({ length }) => length >= 8).sort((a, b) => b.length - a.length);
  };
  // The coding agent may have seen those that are replaced while it works.
  await all();
  return all;
}

/** Of lines that are a secret, or the name of a sender and its token. */
function tokensIn(text: string): readonly string[] {
  return text.split(/[\n;]/).map((line) => {
    const [first = "", second] = line.trim().split(/\s+/);
    return second ?? first;
  });
}

function passwordIn(text: string): readonly string[] {
  return URL.canParse(text) ? [decodeURIComponent(new URL(text).password)] : [];
}
