import { type LoadedConfig, loadConfig } from "./load.ts";
import { settings } from "./schema.ts";

// The build evaluates this file and bundles its values, so that a command that is given no settings need not load the code
// that checks them.

/** The configuration without any settings. */
export const defaultConfig: LoadedConfig = load();

/** Every environment variable that sets something. */
export const settingVariables: readonly string[] = settings.flatMap(({ variables }) => variables);

function load(): LoadedConfig {
  const loaded = loadConfig({ env: {} });
  if (loaded.kind === "loaded") return loaded;
  throw new TypeError(loaded.problems.join("\n"));
}
