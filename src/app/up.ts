import { adminName } from "../apiserver/index.ts";
import type { LoadedConfig } from "../config/index.ts";
import type { PromMetrics } from "../telemetry/index.ts";
import { hasAgent, openAgent } from "./agent.ts";
import { openLocalConsole, type RunningConsole } from "./console.ts";
import { type EmbeddedApi, type EmbeddedApiOptions, startEmbeddedApi } from "./embedded-api.ts";
import { openExecutor } from "./executor.ts";
import { openGateway, type RunningGateway } from "./gateway.ts";
import { HealthReports } from "./health/health-reports.ts";
import { stageHealth, startHeartbeat } from "./health/heartbeat.ts";
import { watchHealth } from "./health/watch-health.ts";
import { openKinds } from "./kinds.ts";
import { openLedger } from "./ledger.ts";
import { openNotify } from "./notify.ts";
import { openOrchestrator } from "./orchestrator.ts";
import { agentNamespaces, prepare, watermarkNamespaces } from "./prepare.ts";
import { openWorkflows, type Workflows } from "./workflows.ts";

export interface UpOptions extends EmbeddedApiOptions {
  readonly loaded: Pick<LoadedConfig, "config" | "origins">;
  readonly metrics: PromMetrics;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of this program. */
  readonly version: string;
  /** Where notices are printed, if they are, one line at a time. */
  readonly print: (line: string) => void;
  /** Of the built web app. */
  readonly webDirectory: string;
  /** Receives the name of each part before it is started, and how many were started before it. */
  readonly starting?: (part: UpPart, before: number) => void;
}

/** The parts of `up`, in the order in which they are started. */
export const upParts = [
  "API server",
  "kinds",
  "workflows",
  "ledger",
  "executor",
  "orchestrator",
  "notifier",
  "gateway",
] as const;

type UpPart = (typeof upParts)[number];

export interface Up {
  readonly api: EmbeddedApi;
  readonly gateway: RunningGateway;
  /** Undefined if the settings turn it off. */
  readonly console: RunningConsole | undefined;
  /** The workflows that were read from files. */
  readonly workflows: Workflows;
  /** Names of the rules that were read from files. */
  readonly rules: readonly string[];
  close(): Promise<void>;
}

/** Starts everything in this process, in one directory and with one ledger. */
export async function startUp(options: UpOptions): Promise<Up> {
  const loaded = withOwnScope(options.loaded);
  const { execution, gateway: intake, objects, agent, locks, heartbeat } = loaded.config;
  if (objects.server !== "embedded") {
    throw new TypeError(
      `objects.server is ${objects.server}, but "up" brings its own API server: start "gateway", "orchestrator" and "executor" instead`,
    );
  }
  const opened: { close(): void | Promise<void> }[] = [];
  const close = async () => {
    for (const one of opened.splice(0).reverse()) await one.close();
  };
  async function opening<T extends { close(): void | Promise<void> }>(one: Promise<T>): Promise<T> {
    const part = await one;
    opened.push(part);
    return part;
  }
  const starting = (part: UpPart) => options.starting?.(part, upParts.indexOf(part));
  try {
    starting("API server");
    const api = await opening(startEmbeddedApi(options));
    const { client, problems: watchProblems } = watchHealth(api.client, options.clock);
    const health = new HealthReports();
    const { namespace: runs, catalogNamespace: catalog } = execution;
    const namespaces = [...agentNamespaces(agent), ...watermarkNamespaces(loaded.config)];
    starting("kinds");
    await prepare(client, [...new Set([locks.namespace, intake.namespace, runs, catalog, ...namespaces])], options);
    const { kinds } = await opening(Promise.resolve(openKinds({ ...options, loaded, client })));
    starting("workflows");
    const workflows = await opening(
      openWorkflows({
        ...options,
        kinds,
        directory: execution.workflowsDir,
        namespace: catalog,
        defaultEngine: execution.engine,
        engines: execution.engines,
        client,
        report: health.reporter("workflows"),
      }),
    );
    starting("ledger");
    const ledger = await opening(openLedger({ ...options, loaded }));
    const stage = { ...options, loaded, client, ledger, kinds, health };
    starting("executor");
    const executor = await opening(openExecutor({ ...stage, onlyUser: adminName }));
    await executor.ready;
    starting("orchestrator");
    const orchestrator = await opening(openOrchestrator({ ...stage, onlyUser: adminName }));
    await orchestrator.ready;
    starting("notifier");
    const notify = await opening(openNotify(stage));
    const agentStage = hasAgent(loaded.config) ? await opening(openAgent(stage)) : undefined;
    starting("gateway");
    const gateway = await opening(openGateway(stage));
    const consoleOptions = { ...options, loaded, client, gateway, token: api.token };
    const console = loaded.config.console.enabled ? await opening(openLocalConsole(consoleOptions)) : undefined;
    const stages = {
      gateway: gateway.gateway,
      orchestrator,
      executor,
      notify,
      ...(agentStage && { agent: agentStage }),
      ...(console && { console: { isReady: true } }),
    };
    const beating = startHeartbeat({
      ...options,
      ...{ client, health, watchProblems, role: "up" },
      namespace: locks.namespace,
      intervalMs: heartbeat.intervalMs,
      stages: () => Object.entries(stages).map(([name, one]) => stageHealth(name, one)),
    });
    opened.push(beating);
    await beating.beat();
    return { api, gateway, console, workflows, rules: orchestrator.rules, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * The subjects of signals are in other systems: the embedded API server has no Deployments and Nodes that could be labelled.
 * Rules select the targets, unless the settings require labels.
 */
function withOwnScope({ config, origins }: UpOptions["loaded"]): UpOptions["loaded"] {
  if (origins.get("gateway.scope") !== "default") return { config, origins };
  return { config: { ...config, gateway: { ...config.gateway, scope: "all" } }, origins };
}
