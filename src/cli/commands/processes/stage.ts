import {
  agentNamespaces,
  connectApiServer,
  failAt,
  HealthReports,
  logConfig,
  makeDataDirectory,
  openApiServer,
  openLedger,
  openObjects,
  prepare,
  type RunningHeartbeat,
  type Stage,
  type StageOptions,
  serveMetrics,
  stageHealth,
  startHeartbeat,
  watchHealth,
  watermarkNamespaces,
} from "../../../app/index.ts";
import type { Config, LoadedConfig } from "../../../config/index.ts";
import type { Connection, KubeClient } from "../../../kube/index.ts";
import { type Logger, type PromMetrics, pinoLogger, promMetrics } from "../../../telemetry/index.ts";
import { type CommandContext, closeOnSignal, configFrom, dataDirectory } from "../../context.ts";
import { packageVersion, startCommand } from "../../package.ts";

export interface StageArguments {
  readonly config?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Directory of this process alone. */
  readonly data: string;
}

export interface SingleStage {
  readonly name: string;
  open(options: StageOptions & { readonly directory: string }): Promise<Stage>;
}

/** Runs one stage in this process, with its own ledger and metrics, until a signal ends it. */
export async function runStage(
  context: CommandContext,
  options: StageArguments,
  { name, open }: SingleStage,
): Promise<void> {
  const { clock, random } = context;
  const { loaded, client, log, directory, health, metrics, startBeating } = await openStage(context, options);
  const ledger = await openLedger({ loaded, directory, clock, random, log, metrics });
  const stage = await open({ loaded, client, ledger, directory, health, clock, random, log, metrics });
  // Served before the stage is ready: a process that waits for the API server is alive, and must not be restarted.
  const served = await serveMetrics(loaded.config.metrics.listen, metrics, () => stage);
  const beating = startBeating(name, stage);
  await stage.ready;
  await beating.beat();
  log.info(`${name} ready`, { pid: process.pid, ...(served && { metrics: served.url }) });
  await closeOnSignal(async () => {
    await beating.close();
    await served?.close();
    await stage.close();
    await ledger.close();
  }, clock);
}

/** The parts of a process with a single stage. */
export interface StageProcess {
  readonly loaded: LoadedConfig;
  readonly client: KubeClient;
  readonly log: Logger;
  readonly directory: string;
  readonly health: HealthReports;
  readonly metrics: PromMetrics;
  /** How the API server is reached, for a stage that acts as other users. */
  connect(): Promise<Connection>;
  /** Starts to report the health of the process and its stage. */
  startBeating(name: string, stage: Pick<Stage, "isReady" | "problem">): RunningHeartbeat;
}

/** Reads the configuration of a process with a single stage, and opens the API server for it. */
export async function openStage(context: CommandContext, options: StageArguments): Promise<StageProcess> {
  const { clock, random, env } = context;
  const loaded = await configFrom(options.config, context);
  const { level, format } = loaded.config.log;
  const log = pinoLogger({ level, format, clock });
  logConfig(loaded, log);
  await makeDataDirectory(options.data);
  // The command line wins over the configuration.
  const { kubeconfig, context: contextName } = options;
  const place = { directory: dataDirectory(context), startCommand: startCommand() };
  const choice = { kubeconfig, context: contextName, ...place, config: loaded.config, env, clock, random };
  const openNamed = async () => ({ client: await openApiServer(choice) });
  const { client } = kubeconfig
    ? await openNamed()
    : await openObjects({
        config: withContextName(loaded.config, contextName),
        embedded: openNamed,
        clock,
        random,
        env,
      });
  const { execution, gateway, agent, locks } = loaded.config;
  const namespaces = [
    ...[locks.namespace, gateway.namespace, execution.namespace, execution.catalogNamespace],
    ...agentNamespaces(agent),
    ...watermarkNamespaces(loaded.config),
  ];
  await prepare(client, [...new Set(namespaces)], { log, clock });
  const watched = watchHealth(client, clock);
  const health = new HealthReports();
  const metrics = promMetrics();
  return {
    loaded,
    client: withFailures(watched.client, env),
    log,
    directory: options.data,
    health,
    metrics,
    connect: () => connectApiServer(choice),
    startBeating: (name, stage) =>
      startHeartbeat({
        ...{ client, health, clock, log },
        namespace: locks.namespace,
        intervalMs: loaded.config.heartbeat.intervalMs,
        role: name,
        directory: options.data,
        version: packageVersion(),
        stages: () => [stageHealth(name, stage)],
        watchProblems: watched.problems,
        metrics,
      }),
  };
}

function withContextName(config: Config, context: string | undefined): Config {
  return context === undefined ? config : { ...config, objects: { ...config.objects, context } };
}

/** For tests: `INTERLOCK_FAIL_AT=7` kills this process before its seventh write, `INTERLOCK_PAUSE_AT=7` stops it there. */
function withFailures(client: KubeClient, env: CommandContext["env"]): KubeClient {
  const { INTERLOCK_FAIL_AT: fatal, INTERLOCK_PAUSE_AT: pause } = env;
  const failing = fatal ? failAt(client, fatal, () => process.kill(process.pid, "SIGKILL")) : client;
  return pause ? failAt(failing, pause, () => process.kill(process.pid, "SIGSTOP")) : failing;
}
