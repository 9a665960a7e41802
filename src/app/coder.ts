import { realpath } from "node:fs/promises";
import { join } from "node:path";
import {
  type Coder,
  type CoderLimits,
  coderNetworkLabel,
  isolationGaps,
  jobCoder,
  openLocalCoder,
  type Workshop,
} from "../agent/index.ts";
import type { Config } from "../config/index.ts";
import { openOwnDirectory } from "../disk/index.ts";
import type { KubeClient } from "../kube/index.ts";
import { findClosedAncestor, findIsolation } from "../process/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Clock } from "../time/index.ts";
import { type AgentSecrets, openSecrets, secretFiles } from "./agent-secrets.ts";

export interface CoderProcessOptions {
  readonly config: Config;
  /** Creates Jobs, if `agent.executor` is job. */
  readonly client: KubeClient;
  readonly workshop: Pick<Workshop, "fetchCommit" | "checkout" | "createPatch">;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The data directory, which is hidden from the coder. The folders of the coder are in it unless `agent.workDir` is set. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Opens the configured coder. */
export async function openCoder(options: CoderProcessOptions): Promise<Coder> {
  const { config, env } = options;
  const secrets = await openSecrets(config, env);
  return config.agent.executor === "job" ? openJobCoder(options, secrets) : await openLocal(options, secrets);
}

function openJobCoder({ config, client, clock, log }: CoderProcessOptions, secrets: AgentSecrets): Coder {
  const { agent, gitlab } = config;
  if (!agent.command || !agent.jobImage || !gitlab.url) {
    throw new TypeError("agent.executor is job: set agent.command, agent.jobImage and gitlab.url, too");
  }
  if (agent.network === "none") {
    const label = `${coderNetworkLabel}: none`;
    const gap = `Only a NetworkPolicy keeps the coder in a Job from the network: select pods with the label ${label} in ${agent.jobNamespace}.`;
    log.warn("coder isolation incomplete", { gap });
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
      network: agent.network,
    },
    ...{ maxOutputBytes, maxAddedFiles, patch, clock },
    secrets: secrets.all,
  });
}

/** Opens a coder that runs as a process of this machine. Logs the gaps in its isolation. */
async function openLocal(
  { config, workshop, env, directory: data, clock, log }: CoderProcessOptions,
  secrets: AgentSecrets,
): Promise<Coder> {
  const { command, passEnvironment = [], publicEnvironment = [] } = config.agent;
  const { user, network, isolation: required, workDir } = config.agent;
  if (!command) throw new TypeError("agent.command is not set: set it to the command of a coder, see docs/coder.md");
  const directory = await openOwnDirectory(workDir ?? join(data, "coder"), "agent.workDir");
  const requested = { user, network: network === "host" };
  const isolation = await findIsolation(requested, directory);
  if (required === "required" && (!isolation.namespaces || isolation.network !== requested.network)) {
    throw new TypeError("agent.isolation is required, but neither root nor user namespaces are allowed here");
  }
  // Mounts are compared with real paths.
  const secretPaths = [await realpath(data), ...secretFiles(config), "/var/run/secrets", "/run/secrets"];
  const closed = await findClosedAncestor(directory, isolation, secretPaths);
  if (closed !== undefined && !isolation.namespaces) {
    const problem = `the coder runs as user ${isolation.user?.uid}, who cannot enter ${closed}, and its folders are in ${directory}`;
    throw new TypeError(`${problem}; fix: set agent.workDir to a directory such as /var/lib/interlock-coder`);
  }
  // In namespaces, a directory that its user cannot enter is hidden, too, because the folders of the coder are below it.
  const hidden = closed === undefined ? secretPaths : [...secretPaths, closed];
  for (const gap of isolationGaps(isolation, requested)) log.warn("coder isolation incomplete", { gap });
  if (!isolation.network) log.info("coder has no network", { fix: networkFix });
  return await openLocalCoder({
    workshop,
    command,
    environment: pickVariables(env, [...publicEnvironment, ...passEnvironment]),
    limits: coderLimits(config),
    secrets: secrets.all,
    ownSecrets: secrets.own,
    directory,
    hidden,
    isolation,
    clock,
    log,
  });
}

const networkFix = "set agent.network: host (AGENT_NETWORK=host) if its model is elsewhere";

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

function pickVariables(env: CoderProcessOptions["env"], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
