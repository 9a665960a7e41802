import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { parseArgs } from "node:util";
import {
  failAt,
  loadCatalog,
  openClient,
  openExecutor,
  openGateway,
  openLedger,
  openObjects,
  policySettings,
  prepare,
  startEmbeddedApi,
  startUp,
} from "./app/index.ts";
import {
  ackCommand,
  ackUsage,
  apiUsage,
  CommandError,
  logsCommand,
  logsUsage,
  readApiArguments,
  runCommand,
  runUsage,
  whyCommand,
  whyUsage,
} from "./cli/index.ts";
import { loadConfig } from "./config/index.ts";
import type { KubeClient } from "./kube/index.ts";
import { pinoLogger, promMetrics } from "./telemetry/index.ts";
import { systemClock, systemRandom } from "./time/index.ts";

const usage = `interlock COMMAND [OPTIONS]

Processes
  up         everything in one process: the embedded API server, the workflows in ./workflows, the executor
  api        the embedded API server alone
  executor   the executor alone, on the API server that --kubeconfig names
  gateway    the gateway alone: takes signals over HTTP and opens incidents for them

Commands
  run        run a workflow on a target
  logs       print what the steps of an execution have written
  why        whether a workflow may act on a target now, and if not, why
  ack        say that trying again is safe after a failure

Options of up and api
${apiUsage}

Options of up, executor and gateway
  --config FILE           settings in YAML, see docs/configuration.md

Options of executor and gateway
  --data DIR              what belongs to this process alone; default .executor or .gateway

Options of executor, gateway and of all commands
  --kubeconfig FILE       default .data/kubeconfig, which up and api write

${runUsage}

${logsUsage}

${whyUsage}

${ackUsage}
`;

const clock = systemClock();
const random = systemRandom();
const metrics = promMetrics();
const terminal = {
  print: (line: string) => console.log(line),
  id: () =>
    random
      .id()
      .replace(/[^A-Za-z0-9]/g, "")
      .slice(0, 8),
  user: userInfo().username,
};

const [command = "help", ...args] = process.argv.slice(2);
try {
  process.exitCode = await perform(command, args);
} catch (error) {
  console.error(`interlock: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

/** The exit status; processes keep running after it is known. */
async function perform(command: string, args: readonly string[]): Promise<number> {
  switch (command) {
    case "up":
      return up(args);
    case "api":
      return api(args);
    case "executor":
      return executor(args);
    case "gateway":
      return gateway(args);
    case "run":
      return withClient(args, (rest, client) => runCommand(rest, client, terminal));
    case "logs":
      return withClient(args, (rest, client) => logsCommand(rest, client, terminal));
    case "why":
      return why(args);
    case "ack":
      return withClient(args, (rest, client) => ackCommand(rest, client, terminal));
    case "help":
    case "--help":
      console.log(usage);
      return 0;
    default:
      throw new CommandError(`there is no command "${command}"\n\n${usage}`);
  }
}

async function api(args: readonly string[]): Promise<number> {
  const log = pinoLogger({ level: "warn", format: "text", clock });
  const given = readApiArguments(args, process.env);
  const { url, kubeconfigFile, close } = await startEmbeddedApi({ ...given, clock, random, log });
  console.log(`Interlock's API server is running.

  API server   ${url}   objects are kept in ${given.directory}
  kubectl      kubectl --kubeconfig ${kubeconfigFile} get namespaces
  stop         Ctrl-C; everything is still there at the next start
`);
  closeOnSignal(close);
  return 0;
}

async function up(args: readonly string[]): Promise<number> {
  const { own, rest } = take(args, "config");
  const loaded = await configFrom(own);
  const log = pinoLogger({ level: "warn", format: "text", clock });
  const given = readApiArguments(rest, process.env);
  const { api, workflows, close } = await startUp({ ...given, loaded, clock, random, log, metrics });
  const [first] = workflows;
  const kubeconfig = given.directory === ".data" ? "" : ` --kubeconfig ${api.kubeconfigFile}`;
  console.log(`Interlock is running.

  API server   ${api.url}   objects are kept in ${given.directory}
  workflows    ${workflows.join(", ") || `none yet: put folders into ${loaded.config.execution.workflowsDir}`}
  try it       ${first ? `npm run -s interlock -- run ${first} --target node/worker-1${kubeconfig}` : "see docs/workflows.md"}
  kubectl      kubectl --kubeconfig ${api.kubeconfigFile} get wfe,rt --all-namespaces
  stop         Ctrl-C; everything is still there at the next start
`);
  closeOnSignal(close);
  return 0;
}

async function executor(args: readonly string[]): Promise<number> {
  const { loaded, client, log, directory } = await stageOf(args, ".executor");
  await loadCatalog(loaded.config.execution.workflowsDir, client, log);
  const stage = await openExecutor({ loaded, client, directory, clock, random, log, metrics });
  await stage.ready;
  log.info("executor ready", { pid: process.pid });
  closeOnSignal(() => stage.close());
  return 0;
}

async function gateway(args: readonly string[]): Promise<number> {
  const { loaded, client, log, directory } = await stageOf(args, ".gateway");
  const ledger = await openLedger({ loaded, directory, clock, random, log, metrics });
  const { url, tokenFile, close } = await openGateway({
    loaded,
    client,
    ledger,
    directory,
    clock,
    random,
    log,
    metrics,
  });
  console.log(`Interlock's gateway is running.

  signals      ${url}/api/v1/signals   tokens are in ${tokenFile ?? "the configuration"}
  Alertmanager ${url}/api/v1/signals/alertmanager
  stop         Ctrl-C; everything is still there at the next start
`);
  closeOnSignal(async () => {
    await close();
    await ledger.close();
  });
  return 0;
}

/** What the processes of single stages have in common. */
async function stageOf(args: readonly string[], ownDirectory: string) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: "string" },
      kubeconfig: { type: "string" },
      data: { type: "string", default: ownDirectory },
    },
  });
  const loaded = await configFrom(values.config);
  const { level, format } = loaded.config.log;
  const log = pinoLogger({ level, format, clock });
  // What is said on the command line wins over the configuration.
  const ours = async () => ({ client: await openClient(values.kubeconfig ?? ".data/kubeconfig", { clock, random }) });
  const { client } = values.kubeconfig
    ? await ours()
    : await openObjects({ config: loaded.config, embedded: ours, clock, random, env: process.env });
  const { execution, gateway: intake } = loaded.config;
  await prepare(client, [...new Set(["kubernaut-system", intake.namespace, execution.namespace])], log);
  return { loaded, client: withFailures(client), log, directory: values.data };
}

/** For tests: `INTERLOCK_FAIL_AT=7` kills this process before its seventh write, `INTERLOCK_PAUSE_AT=7` stops it there. */
function withFailures(client: KubeClient): KubeClient {
  const { INTERLOCK_FAIL_AT: fatal, INTERLOCK_PAUSE_AT: pause } = process.env;
  const mortal = fatal ? failAt(client, fatal, () => process.kill(process.pid, "SIGKILL")) : client;
  return pause ? failAt(mortal, pause, () => process.kill(process.pid, "SIGSTOP")) : mortal;
}

async function why(args: readonly string[]): Promise<number> {
  const { own, rest } = take(args, "config");
  const { config } = await configFrom(own);
  const options = { settings: policySettings(config), recordsIn: config.execution.namespace };
  return withClient(rest, (rest, client) => whyCommand(rest, client, terminal, options));
}

async function withClient(
  args: readonly string[],
  run: (rest: readonly string[], client: KubeClient) => Promise<number>,
): Promise<number> {
  const { own, rest } = take(args, "kubeconfig");
  const status = await run(rest, await openClient(own ?? ".data/kubeconfig", { clock, random }));
  // Connections to the API server would keep the process for a while.
  process.exit(status);
}

/** Takes one option of ours out of the arguments of a command. */
function take(
  args: readonly string[],
  name: string,
): { readonly own: string | undefined; readonly rest: readonly string[] } {
  const at = args.indexOf(`--${name}`);
  if (at < 0) return { own: undefined, rest: args };
  const own = args[at + 1];
  if (own === undefined) throw new CommandError(`--${name} wants a value`);
  return { own, rest: [...args.slice(0, at), ...args.slice(at + 2)] };
}

async function configFrom(path: string | undefined) {
  const yaml = path === undefined ? undefined : { path, text: await readFile(path, "utf8") };
  const loaded = loadConfig({ yaml, env: process.env });
  if (loaded.kind === "loaded") return loaded;
  throw new CommandError(`the configuration has to be put right first:\n  ${loaded.problems.join("\n  ")}`);
}

function closeOnSignal(close: () => Promise<void>): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void close().then(() => process.exit(0)));
  }
}
