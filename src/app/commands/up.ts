import { type Command, readApiArguments, takeOption } from "../../cli/index.ts";
import { pinoLogger } from "../../telemetry/index.ts";
import { startUp, type Up } from "../up.ts";
import { apiOptions } from "./api.ts";
import { closeOnSignal, configFrom, type Surroundings } from "./surroundings.ts";

/** `interlock up`, which is what `npm start` starts. */
export const up: Command<Surroundings> = {
  name: "up",
  about: "everything in one process: the embedded API server, the gateway, the orchestrator, the executor",
  usage: `interlock up [OPTIONS]

Starts everything in one process, on loopback, with all that it keeps in one directory.

${apiOptions}
  --config FILE           settings in YAML, see docs/configuration.md`,
  async perform(args, around) {
    const { clock, random, metrics, env, terminal } = around;
    const { value, rest } = takeOption(args, "config");
    const loaded = await configFrom(value, around);
    const log = pinoLogger({ level: "warn", format: "text", clock });
    const given = readApiArguments(rest, env);
    const running = await startUp({ ...given, loaded, clock, random, log, metrics, print: terminal.print });
    terminal.print(screen(running, given.directory, loaded.config.execution.workflowsDir));
    closeOnSignal(running.close);
    return 0;
  },
};

/** What runs where, and what to type next. */
function screen({ api, gateway, workflows }: Up, directory: string, workflowsDir: string): string {
  const interlock = "npm run -s interlock --";
  const data = directory === ".data" ? "" : ` --data ${directory}`;
  const [first] = workflows;
  const next = first
    ? `${interlock} run ${first} --target node/worker-1${data}`
    : `put a folder into ${workflowsDir}, see docs/workflows.md, and start again`;
  return `Interlock is running. Everything is kept in ${directory}.

  API server   ${api.url}
  gateway      ${gateway.url}   takes signals; senders' tokens are in ${gateway.tokenFile ?? "the configuration"}
  metrics      ${gateway.url}/metrics
  workflows    ${workflows.join(", ") || "none yet"}
  kubectl      kubectl --kubeconfig ${api.kubeconfigFile} get rr,wfe,rt --all-namespaces
  stop         Ctrl-C; everything is still there at the next start

Next, in a second terminal:

  ${next}
`;
}
