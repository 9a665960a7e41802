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

type StageCommand = (context: CommandContext, options: StageArguments) => Promise<void>;

/** `interlock gateway` */
export const gateway: StageCommand = async (context, options) => {
  const { clock, random, terminal } = context;
  const { loaded, client, log, directory, health, metrics, startBeating } = await openStage(context, options);
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
  await closeOnSignal(async () => {
    await beating.close();
    await close();
    await ledger.close();
  }, clock);
};

/** `interlock orchestrator` */
export const orchestrator: StageCommand = (context, options) =>
  runStage(context, options, { name: "orchestrator", open: openOrchestrator });

/** `interlock executor` */
export const executor: StageCommand = (context, options) =>
  runStage(context, options, { name: "executor", open: openExecutorWithCatalog });

/** `interlock notify` */
export const notify: StageCommand = (context, options) => {
  const { print } = context.terminal;
  return runStage(context, options, { name: "notify", open: (parts) => openNotify({ ...parts, print }) });
};

/** `interlock agent` */
export const agent: StageCommand = (context, options) => {
  const { env } = context;
  return runStage(context, options, { name: "agent", open: (parts) => openAgent({ ...parts, env }) });
};

/** `interlock console` */
export const console: StageCommand = async (context, options) => {
  const { clock, random } = context;
  const { loaded, client, log, directory, metrics, connect, startBeating } = await openStage(context, options);
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
  context.terminal.print(`Interlock's console is running: ${running.url}`);
  await closeOnSignal(async () => {
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
