import { type LoadedConfig, loadConfig } from "./load.ts";
import { settings } from "./schema.ts";

// The bundle has the results of these functions in place of their code, so that a command that is given no settings need not
// load the code that checks them.

/** The configuration without any settings. */
export function defaultConfig(): LoadedConfig {
  const loaded = loadConfig({ env: {} });
  if (loaded.kind === "loaded") return loaded;
  throw new TypeError(loaded.problems.join("\n"));
}

/** Every environment variable that sets something. */
export function settingVariables(): readonly string[] {
  return settings.flatMap(({ variables }) => variables);
}
