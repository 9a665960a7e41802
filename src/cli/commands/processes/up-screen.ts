import { basename, delimiter, dirname, resolve } from "node:path";
import { hasAgent, type Up, webhookPath } from "../../../app/index.ts";
import { type Config, describeChosen, explainState, type LoadedConfig } from "../../../config/index.ts";

export interface ScreenOptions {
  /** Of the data, as it was named. */
  readonly directory: string;
  readonly loaded: LoadedConfig;
  readonly invocation: Invocation;
  /** The file of an alert that the rules of the package answer. */
  readonly example: string;
}

/** The lines that `up` prints: the addresses of its parts, and the next commands. */
export function screenLines(up: Up, { directory, loaded, invocation, example }: ScreenOptions): readonly string[] {
  const { api, gateway, console, rules } = up;
  const { config } = loaded;
  const tokens = gateway.tokenFile ?? "the configuration";
  const rows: readonly ScreenRow[] = [
    ["console", console?.link ? [console.link, "logs you in once, within 10 minutes"] : []],
    ["API server", [api.url]],
    ["gateway", [`${gateway.url}   tokens of senders: ${tokens}`]],
    ["metrics", [`${gateway.url}/metrics`]],
    ["rules", [rules.join(", ") || `none yet: put files into ${config.rules.dir}, see docs/rules.md`]],
    ["workflows", workflowTexts(up.workflows, config)],
    ["agent", agentTexts(config, gateway.url)],
    ["settings", describeChosen(loaded).map(({ setting, value, origin }) => `${setting}: ${value} (${origin})`)],
    ["not kept", lossTexts(loaded)],
    ["kubectl", [`kubectl --kubeconfig ${api.kubeconfigFile} get rr,wfe,rt -A`]],
    ["stop", ["Ctrl-C; everything is still there at the next start"]],
  ];
  const alias = aliasLine(invocation);
  const next = [
    ...(alias === undefined ? [] : [alias]),
    ...(directory === ".data" ? [] : [`export INTERLOCK_DATA=${resolve(directory)}`]),
    `interlock receive alertmanager -p ${example}`,
  ];
  return [
    `Interlock is running. All data is in ${directory}.`,
    "",
    ...rows.flatMap(rowLines),
    "",
    "Next, in a second terminal:",
    "",
    ...next.map((line) => `  ${line}`),
    "",
  ];
}

/** A label and the lines beside it; without lines there is no row. */
type ScreenRow = readonly [label: string, texts: readonly string[]];

function rowLines([label, texts]: ScreenRow): readonly string[] {
  return texts.map((text, i) => `  ${(i === 0 ? label : "").padEnd(12)} ${text}`);
}

/** The workflows that can run with this configuration, and the setting that the others need. */
function workflowTexts({ ids, actionIds }: Up["workflows"], { execution }: Config): readonly string[] {
  if (ids.length === 0) return [`none yet: put folders into ${execution.workflowsDir}, see docs/workflows.md`];
  const waiting = execution.localKubeconfig === undefined ? actionIds : [];
  const usable = ids.filter((id) => !waiting.includes(id));
  const lacking = `${waiting.length} more act on a cluster: set LOCAL_KUBECONFIG (docs/actions.md)`;
  return [...(usable.length > 0 ? [usable.join(", ")] : []), ...(waiting.length > 0 ? [lacking] : [])];
}

/** The projects and issues that the agent works on, and how it receives them. */
function agentTexts(config: Config, gatewayUrl: string): readonly string[] {
  const { gitlab, jira } = config;
  if (!gitlab.url) return [];
  if (!hasAgent(config)) return [`${gitlab.url}   off: set AGENT_COMMAND to your coder, see docs/coder.md`];
  const inputs = [
    ...(gitlab.webhookSecret || gitlab.webhookSecretFile ? [`webhooks at ${gatewayUrl}${webhookPath}`] : []),
    ...(gitlab.poll ? [`polls ${gitlab.projects?.join(", ") || "no project: set GITLAB_PROJECTS"}`] : []),
    ...(jira.url ? [`issues of ${jira.url}`] : []),
  ];
  const none = "receives nothing yet: set GITLAB_WEBHOOK_SECRET or GITLAB_POLL, see docs/agent.md";
  return [`${gitlab.url}   ${inputs.join("; ") || none}`];
}

/** The state that a restart loses, if any. */
function lossTexts(loaded: LoadedConfig): readonly string[] {
  return explainState(loaded).flatMap(({ backend, text }) => (backend === "memory" ? [text] : []));
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
