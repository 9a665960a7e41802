import { existsSync } from "node:fs";
import { join } from "node:path";
import { defaultConfig, type LoadedConfig, settingVariables, type YamlFile } from "../config/index.ts";
import type { Clock, Random } from "../time/index.ts";
import { CommandError, type ServerContext } from "./command.ts";
import type { Terminal } from "./output/terminal.ts";
import { packageFolder } from "./package.ts";
import { findSettingsFile, readSettings } from "./settings-file.ts";

/** The context of a command that opens its own connections. */
export interface CommandContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
}

/** The options from which the context of a command is opened. */
export interface ContextOptions {
  readonly data?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly config?: string;
  readonly output?: string;
  /** Whether no progress is shown. */
  readonly quiet?: boolean;
}

/** The configuration for a command. Throws CommandError with all its problems. */
export async function configFrom(
  path: string | undefined,
  { env }: Pick<CommandContext, "env">,
): Promise<LoadedConfig> {
  return load(await findSettingsFile(path, env), env);
}

/** The configuration from the environment alone, for a process whose working directory is not trusted. */
export async function configFromEnvironment({ env }: Pick<CommandContext, "env">): Promise<LoadedConfig> {
  return load(undefined, env);
}

async function load(yaml: YamlFile | undefined, env: CommandContext["env"]): Promise<LoadedConfig> {
  const policyPath = env["INTERLOCK_POLICY"];
  if (!yaml && !policyPath && !settingVariables().some((name) => env[name])) return withShippedFolders(defaultConfig());
  const policy = policyPath
    ? { path: policyPath, text: await readSettings("INTERLOCK_POLICY", policyPath) }
    : undefined;
  const { loadConfig } = await import("./check-settings.ts");
  const loaded = loadConfig({ yaml, policy, env });
  if (loaded.kind === "loaded") return withShippedFolders(loaded);
  throw new CommandError("invalid configuration; fix these problems:", loaded.problems);
}

/** The data directory of `up`, unless an option names another. */
export function dataDirectory({ env }: Pick<CommandContext, "env">): string {
  return env["INTERLOCK_DATA"] || ".data";
}

/** npm forwards a Ctrl-C that the terminal has also sent to this process: two signals within this time count as one. */
const repeatMs = 500;
/** The same while a process closes: a busy machine delays npm, and an interrupted close is worse than a slow one. */
const closingRepeatMs = 3_000;

/** Calls `close` after SIGINT or SIGTERM, and returns when it has finished. A later second signal ends the process at once. */
export async function closeOnSignal(close: () => Promise<void>, clock: Clock): Promise<void> {
  let isClosing = false;
  await new Promise<void>((resolve) => {
    const handle = () => {
      if (isClosing) process.exit(1);
      isClosing = true;
      resolve();
    };
    onStopSignal(clock, handle, closingRepeatMs);
  });
  await close();
}

/** Calls `handle` for each SIGINT or SIGTERM, once for several within `withinMs`. */
export function onStopSignal(clock: Clock, handle: () => void, withinMs = repeatMs): void {
  let handledAt = Number.NEGATIVE_INFINITY;
  const onSignal = () => {
    if (clock.now() - handledAt <= withinMs) return;
    handledAt = clock.now();
    handle();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, onSignal);
}

/** Opens the contexts of commands. Nothing is opened, or even imported, for the help. */
export interface Contexts {
  withCommandContext: WithContext<CommandContext>;
  withServerContext: WithContext<ServerContext>;
}

/** Opens a context with `options`, and calls `work` with it. */
export type WithContext<Context> = (
  options: ContextOptions,
  work: (context: Context) => Promise<number>,
) => Promise<number>;

/**
 * Uses the rules and workflows of the package where the working directory has no such folder and no setting names another one:
 * the first `interlock up` in an empty directory has something to run.
 */
export function withShippedFolders(loaded: LoadedConfig, exists: (path: string) => boolean = existsSync): LoadedConfig {
  const { config, origins } = loaded;
  const folder = (path: string, value: string) => {
    const shipped = join(packageFolder, value);
    return origins.get(path) === "default" && !exists(value) && exists(shipped) ? shipped : value;
  };
  return {
    ...loaded,
    config: {
      ...config,
      rules: { ...config.rules, dir: folder("rules.dir", config.rules.dir) },
      execution: { ...config.execution, workflowsDir: folder("execution.workflowsDir", config.execution.workflowsDir) },
    },
  };
}

/**
 * Whether the executor stores the workflows of its folder in the catalog. In a pod it does only if a setting names the folder: the one
 * beside the program is that of the package, for the engine local, and the role of the executor only reads the catalog.
 */
export function storesWorkflows({ config, origins }: Pick<LoadedConfig, "config" | "origins">): boolean {
  return config.objects.server !== "in-cluster" || origins.get("execution.workflowsDir") !== "default";
}
