import { chooseKubeconfig } from "../../app/index.ts";
import { describeConfig, type LoadedConfig } from "../../config/index.ts";
import { KubeError, listContexts } from "../../kube/index.ts";
import { type CommandContext, type ContextOptions, configFrom, dataDirectory } from "../context.ts";
import { columnLines } from "../output/columns.ts";
import { jsonLines } from "../output/terminal.ts";
import { yamlLines } from "../output/yaml.ts";
import { findSettingsFile } from "../settings-file.ts";

interface ViewOptions extends ContextOptions {
  readonly namespace?: string;
  readonly changed?: boolean;
  readonly output?: "table" | "json" | "yaml";
}

/** A value that commands use, and where it comes from. */
interface Row {
  readonly setting: string;
  readonly value: string;
  readonly origin: string;
}

const notSet = { value: "not set", origin: "default" };

/** `interlock config view` */
export async function configView(context: CommandContext, options: ViewOptions): Promise<void> {
  const loaded = await configFrom(options.config, context);
  const settings = describeConfig(loaded).map((row) => withOverride(row, options));
  const all: readonly Row[] = [
    ...(await fileRows(options, context)),
    ...(await serverRows(loaded, options, context)),
    ...settings,
  ];
  const rows = options.changed ? all.filter(({ origin }) => origin !== "default" && !origin.startsWith("as ")) : all;
  for (const line of outputLines(rows, options.output)) context.terminal.print(line);
}

/** The files and directories that are not settings, because settings are read from them. */
async function fileRows(options: ViewOptions, { env }: CommandContext): Promise<readonly Row[]> {
  const file = await findSettingsFile(options.config, env);
  const policy = env["INTERLOCK_POLICY"];
  return [
    { setting: "--config", ...(file ? { value: file.path, origin: file.origin } : notSet) },
    { setting: "policy file", ...(policy ? { value: policy, origin: "env INTERLOCK_POLICY" } : notSet) },
    { setting: "--data", value: options.data ?? dataDirectory({ env }), origin: dataOrigin(options, env) },
  ];
}

function dataOrigin({ data }: ViewOptions, env: CommandContext["env"]): string {
  if (data !== undefined) return "--data";
  return env["INTERLOCK_DATA"] ? "env INTERLOCK_DATA" : "default";
}

/** The API server that commands call. */
async function serverRows(
  loaded: LoadedConfig,
  options: ViewOptions,
  { env }: CommandContext,
): Promise<readonly Row[]> {
  const { config, origins } = loaded;
  if (options.kubeconfig === undefined && config.objects.server === "in-cluster") {
    return [{ setting: "--kubeconfig", value: "the cluster of this pod", origin: origins.get("objects.server") ?? "" }];
  }
  const { kubeconfig, context, data: directory = dataDirectory({ env }) } = options;
  const { paths, origin } = await chooseKubeconfig({ kubeconfig, context, directory, config, env });
  const kubeconfigOrigin = origin === "objects.kubeconfig" ? (origins.get(origin) ?? origin) : origin;
  return [
    { setting: "--kubeconfig", value: paths.join(", "), origin: kubeconfigOrigin },
    { setting: "--context", ...(await contextRow(paths, loaded, context)) },
  ];
}

async function contextRow(paths: readonly string[], { config, origins }: LoadedConfig, option: string | undefined) {
  if (option !== undefined) return { value: option, origin: "--context" };
  const configured = config.objects.context;
  if (configured !== undefined) return { value: configured, origin: origins.get("objects.context") ?? "default" };
  try {
    const { current } = await listContexts(paths);
    return current === undefined ? notSet : { value: current, origin: "current context of the kubeconfig" };
  } catch (error) {
    // A kubeconfig may not exist yet: the other settings are shown nevertheless.
    if (error instanceof KubeError) return { value: "not set", origin: error.message };
    throw error;
  }
}

/** An option overrides its setting. */
function withOverride(row: Row, { kubeconfig, context, namespace }: ViewOptions): Row {
  const options: Readonly<Record<string, string | undefined>> = {
    "objects.kubeconfig": kubeconfig,
    "objects.context": context,
    "objects.namespace": namespace,
  };
  const value = options[row.setting];
  return value === undefined ? row : { ...row, value, origin: `--${row.setting.slice("objects.".length)}` };
}

function outputLines(rows: readonly Row[], output: ViewOptions["output"]) {
  if (output === "json") return jsonLines(rows);
  if (output === "yaml") return yamlLines(rows);
  return columnLines(
    ["Setting", "Value", "Origin"],
    rows.map(({ setting, value, origin }) => [setting, value, origin]),
  );
}
