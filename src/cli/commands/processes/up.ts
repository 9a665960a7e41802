import { existsSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { hasAgent, logConfig, startUp, type Up, upParts, webhookPath } from "../../../app/index.ts";
import { type Config, describeChosen, explainState, type LoadedConfig } from "../../../config/index.ts";
import { pinoLogger } from "../../../telemetry/index.ts";
import { type CommandContext, closeOnSignal, configFrom } from "../../context.ts";
import { packageFolder, packageVersion, webFolder } from "../../package.ts";
import { type ApiOptions, readApiOptions } from "./api.ts";

/** `interlock up`, which `npm start` runs. */
export async function up(around: CommandContext, options: ApiOptions & { readonly config?: string }): Promise<void> {
  const { clock, random, metrics, env, terminal } = around;
  const loaded = await configFrom(options.config, around);
  const log = pinoLogger({ ...logSettings(loaded), clock });
  logConfig(loaded, log);
  const given = readApiOptions(options, env);
  const version = packageVersion();
  const { print } = terminal;
  const webDirectory = webFolder;
  const starting = (part: string, before: number) =>
    terminal.progress.show(`starting: ${before} of ${upParts.length} parts run, next the ${part}`);
  const about = { version, webDirectory, starting };
  const running = await startUp({ ...given, loaded, clock, random, log, metrics, env, print, ...about });
  terminal.progress.clear();
  for (const line of screen(running, { directory: given.directory, loaded, env }).split("\n")) terminal.print(line);
  closeOnSignal(async () => {
    await running.close();
    terminal.print(`Interlock has stopped. All data is in ${given.directory}.`);
  }, clock);
}

/** Prints one screen, and after it only warnings and errors, unless the settings ask for more. */
function logSettings({ config, origins }: LoadedConfig): Config["log"] {
  const isChosen = (key: keyof Config["log"]) => origins.get(`log.${key}`) !== "default";
  return {
    level: isChosen("level") ? config.log.level : "warn",
    format: isChosen("format") ? config.log.format : "text",
  };
}

/** What runs where, and what to type next. */
function screen(
  { api, gateway, console, workflows, rules }: Up,
  {
    directory,
    loaded,
    env,
  }: Pick<CommandContext, "env"> & { readonly directory: string; readonly loaded: LoadedConfig },
): string {
  const { config } = loaded;
  const {
    execution,
    rules: { dir },
  } = config;
  const example = "examples/node-disk-pressure.json";
  const [, script = ""] = process.argv;
  const preparation = [
    aliasLine({ script, realPath: realpathSync(script), env }),
    directory === ".data" ? undefined : `export INTERLOCK_DATA=${resolve(directory)}`,
  ];
  const next = [
    ...preparation.filter((line) => line !== undefined),
    `interlock receive alertmanager -p ${existsSync(example) ? example : join(packageFolder, example)}`,
  ];
  const consoleLine =
    console === undefined ? "" : `  console      ${console.link}   logs you in once, within 10 minutes\n`;
  return `Interlock is running. All data is in ${directory}.

${consoleLine}  API server   ${api.url}
  gateway      ${gateway.url}   accepts signals; senders' tokens are in ${gateway.tokenFile ?? "the configuration"}
  metrics      ${gateway.url}/metrics
  rules        ${rules.join(", ") || `none yet: put files into ${dir}, see docs/rules.md`}
  workflows    ${workflows.join(", ") || `none yet: put folders into ${execution.workflowsDir}, see docs/workflows.md`}
${agentLines(config, gateway.url)}${settingLines(loaded)}${lossLines(loaded)}  kubectl      kubectl --kubeconfig ${api.kubeconfigFile} get rr,wfe,rt --all-namespaces
  stop         Ctrl-C; everything is still there at the next start

Next, in a second terminal:

${next.map((line) => `  ${line}\n`).join("")}`;
}

/** Each setting that is not a default, with its origin. */
function settingLines(loaded: LoadedConfig): string {
  return describeChosen(loaded)
    .map(
      ({ setting, value, origin }, i) =>
        `${i === 0 ? "  settings     " : " ".repeat(15)}${setting}: ${value} (${origin})\n`,
    )
    .join("");
}

/** The state that a restart loses, if any. */
function lossLines(loaded: LoadedConfig): string {
  const { state, locks } = loaded.config;
  if (state.backend !== "memory" && locks.backend !== "memory") return "";
  return explainState(loaded)
    .filter((sentence) => sentence.includes("A restart loses"))
    .map((sentence) => `  not kept     ${sentence}\n`)
    .join("");
}

/** The projects and issues that the agent works on, and how it receives them. */
function agentLines(config: Config, gatewayUrl: string): string {
  const { gitlab, jira } = config;
  if (!hasAgent(config)) return "";
  const hears = [
    ...(gitlab.webhookSecret || gitlab.webhookSecretFile ? [`webhooks at ${gatewayUrl}${webhookPath}`] : []),
    ...(gitlab.poll ? [`asks for ${gitlab.projects?.join(", ") || "no project: set GITLAB_PROJECTS"}`] : []),
    ...(jira.url ? [`issues of ${jira.url}`] : []),
  ];
  const nothing = "receives nothing yet: set GITLAB_WEBHOOK_SECRET or GITLAB_POLL, see docs/agent.md";
  return `  agent        ${gitlab.url}   ${hears.join("; ") || nothing}\n`;
}

export interface Invocation {
  /** The file that Node runs, as it was named. */
  readonly script: string;
  /** The same without links. */
  readonly realPath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The shell line that makes `interlock` run this program in another terminal. Undefined if it does so anyway. */
export function aliasLine({ script, realPath, env }: Invocation): string | undefined {
  if (script.endsWith("/scripts/start.mjs")) return "alias interlock='npm run -s interlock --'";
  // npx adds its folder to the PATH of this process only.
  const isNpx = env["npm_command"] === "exec";
  const isOnPath = env["PATH"]?.split(delimiter).includes(dirname(script)) && basename(script) === "interlock";
  return isOnPath && !isNpx ? undefined : `alias interlock='node "${realPath}"'`;
}
