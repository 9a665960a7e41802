import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LoadedConfig } from "../config/index.ts";
import { packageFolder } from "./package.ts";

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
