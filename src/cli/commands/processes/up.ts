import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { logConfig, startUp, upParts } from "../../../app/index.ts";
import type { Config, LoadedConfig } from "../../../config/index.ts";
import { pinoLogger, promMetrics } from "../../../telemetry/index.ts";
import { type CommandContext, closeOnSignal, configFrom } from "../../context.ts";
import { packageFolder, packageVersion, webFolder } from "../../package.ts";
import { type ApiOptions, readApiOptions } from "./api.ts";
import { screenLines } from "./up-screen.ts";

/** `interlock up`, which `npm start` runs. */
export async function up(context: CommandContext, options: ApiOptions & { readonly config?: string }): Promise<void> {
  const { clock, random, env, terminal } = context;
  const loaded = await configFrom(options.config, context);
  const log = pinoLogger({ ...logSettings(loaded), clock });
  logConfig(loaded, log);
  const settings = readApiOptions(options, env);
  const { directory } = settings;
  const running = await startUp({
    ...{ ...settings, loaded, clock, random, log, metrics: promMetrics(), env, print: terminal.print },
    version: packageVersion(),
    webDirectory: webFolder,
    starting: (part, before) =>
      terminal.progress.show(`starting: ${before} of ${upParts.length} parts run, next the ${part}`),
  });
  terminal.progress.clear();

  const [, script = ""] = process.argv;
  const invocation = { script, realPath: realpathSync(script), env };
  for (const line of screenLines(running, { directory, loaded, invocation, example: exampleAlert() })) {
    terminal.print(line);
  }
  await closeOnSignal(async () => {
    await running.close();
    terminal.print(`Interlock has stopped. All data is in ${directory}.`);
  }, clock);
}

/** Unless the settings choose otherwise, only warnings and errors are logged, as text below the screen. */
function logSettings({ config, origins }: LoadedConfig): Config["log"] {
  const isChosen = (key: keyof Config["log"]) => origins.get(`log.${key}`) !== "default";
  return {
    level: isChosen("level") ? config.log.level : "warn",
    format: isChosen("format") ? config.log.format : "text",
  };
}

function exampleAlert(): string {
  const file = "examples/node-disk-pressure.json";
  return existsSync(file) ? file : join(packageFolder, file);
}
