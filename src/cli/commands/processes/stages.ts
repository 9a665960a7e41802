import {
  openAgent,
  openClusterConsole,
  openExecutor,
  openGateway,
  openKinds,
  openLedger,
  openNotify,
  openOrchestrator,
  openWorkflows,
  serveMetrics,
  toStage,
} from "../../../app/index.ts";
import { type CommandContext, closeOnSignal, storesWorkflows } from "../../context.ts";
import { packageVersion, webFolder } from "../../package.ts";
import { openStage, runStage, type SingleStage, type StageArguments } from "./stage.ts";

type StageCommand = (around: CommandContext, options: StageArguments) => Promise<void>;

/** `interlock gateway` */
export const gateway: StageCommand = async (around, options) => {
  const { clock, random, metrics, terminal } = around;
  const { loaded, client, log, directory, health, startBeating } = await openStage(around, options);
  const parts = { loaded, directory, clock, random, log, metrics };
  const ledger = await openLedger(parts);
  const { url, tokenFile, close, gateway: stage } = await openGateway({ ...parts, client, ledger, health });
  const screen = `Interlock's gateway is running.

  signals      ${url}/api/v1/signals   tokens are in ${tokenFile ?? "the configuration"}
  Alertmanager ${url}/api/v1/signals/alertmanager
  metrics      ${url}/metrics
  stop         Ctrl-C; everything is still there at the next start
`;
  for (const line of screen.split("\n")) terminal.print(line);
  const beating = startBeating("gateway", stage);
  closeOnSignal(async () => {
    await beating.close();
    await close();
    await ledger.close();
  }, clock);
};

/** `interlock orchestrator` */
export const orchestrator: StageCommand = (around, options) =>
  runStage(around, options, { name: "orchestrator", open: openOrchestrator });

/** `interlock executor` */
export const executor: StageCommand = (around, options) =>
  runStage(around, options, { name: "executor", open: openExecutorWithCatalog });

/** `interlock notify` */
export const notify: StageCommand = (around, options) => {
  const { print } = around.terminal;
  return runStage(around, options, { name: "notify", open: (parts) => openNotify({ ...parts, print }) });
};

/** `interlock agent` */
export const agent: StageCommand = (around, options) => {
  const { env } = around;
  return runStage(around, options, { name: "agent", open: (parts) => openAgent({ ...parts, env }) });
};

/** `interlock console` */
export const console: StageCommand = async (around, options) => {
  const { clock, random, metrics } = around;
  const { loaded, client, log, directory, connect, startBeating } = await openStage(around, options);
  const connection = await connect();
  const version = packageVersion();
  const running = await openClusterConsole({
    ...{ loaded, client, connection, directory, version, clock, random, log },
    webDirectory: webFolder,
  });
  const health = { isReady: true };
  const served = await serveMetrics(loaded.config.metrics.listen, metrics, () => health);
  const beating = startBeating("console", health);
  await beating.beat();
  around.terminal.print(`Interlock's console is running: ${running.url}`);
  closeOnSignal(async () => {
    await beating.close();
    await served?.close();
    await running.close();
  }, clock);
};

const openExecutorWithCatalog: SingleStage["open"] = async (options) => {
  const { workflowsDir, catalogNamespace, engine, engines } = options.loaded.config.execution;
  const { kinds, close: closeKinds } = openKinds(options);
  const folder = {
    ...{ directory: workflowsDir, namespace: catalogNamespace, defaultEngine: engine, engines },
    report: options.health?.reporter("workflows"),
  };
  const workflows = storesWorkflows(options.loaded) ? await openWorkflows({ ...options, kinds, ...folder }) : undefined;
  const stage = await openExecutor({ ...options, kinds });
  return toStage(stage, async () => {
    workflows?.close();
    await stage.close();
    closeKinds();
  });
};
