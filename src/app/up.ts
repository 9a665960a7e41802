import { stat } from "node:fs/promises";
import type { LoadedConfig } from "../config/index.ts";
import { readCatalog, storeCatalog } from "../engines/index.ts";
import type { KubeClient } from "../kube/index.ts";
import { builtInKinds } from "../resources/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import { type EmbeddedApi, type EmbeddedApiOptions, startEmbeddedApi } from "./embedded-api.ts";
import { openExecutor, type Stage } from "./executor.ts";
import { prepare } from "./prepare.ts";

export interface UpOptions extends EmbeddedApiOptions {
  readonly loaded: Pick<LoadedConfig, "config">;
  readonly metrics: Metrics;
}

export interface Up {
  readonly api: EmbeddedApi;
  /** Ids of the workflows that were read from files. */
  readonly workflows: readonly string[];
  close(): Promise<void>;
}

/** Starts everything in this process: the embedded API server, the catalog and the executor. */
export async function startUp(options: UpOptions): Promise<Up> {
  const { server } = options.loaded.config.objects;
  if (server !== "embedded") {
    throw new TypeError(`objects.server is ${server}, but "up" brings its own API server: start "executor" instead`);
  }
  const api = await startEmbeddedApi(options);
  let executor: Stage | undefined;
  try {
    await prepare(api.client, [options.loaded.config.execution.namespace], options.log);
    const workflows = await loadCatalog(options.loaded.config.execution.workflowsDir, api.client, options.log);
    executor = await openExecutor({ ...options, client: api.client });
    await executor.ready;
    const running = executor;
    return {
      api,
      workflows,
      async close() {
        await running.close();
        await api.close();
      },
    };
  } catch (error) {
    await executor?.close();
    await api.close();
    throw error;
  }
}

/** Brings the workflows in `directory` into the store. A file that is wrong is said so, and does not stop the others. */
export async function loadCatalog(directory: string, client: KubeClient, log: Logger): Promise<readonly string[]> {
  if (!(await isDirectory(directory))) return [];
  const { workflows, problems } = await readCatalog(directory, builtInKinds);
  for (const problem of problems) log.error("workflow not loaded", { problem });
  for (const step of await storeCatalog(client, { namespace: "kubernaut-system", workflows })) {
    if (step.did === "leave") log.warn("workflow left alone", { name: step.name, because: step.because });
  }
  return [...new Set(workflows.map(({ spec }) => spec.workflowId))];
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
