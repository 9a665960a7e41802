import { join, resolve } from "node:path";
import type { Config } from "../config/index.ts";
import { type Engine, jobEngine, localEngine, startLocalRunner, tektonEngine } from "../engines/index.ts";
import { startExecutor } from "../executor/index.ts";
import { ackIdentity, type Places } from "../manifests/index.ts";
import { commandEnvironment } from "./command-environment.ts";
import { localRunsFolder } from "./data-directory.ts";
import { reportEngineProblems } from "./engine-problems.ts";
import { openKinds } from "./kinds.ts";
import { nameGuarantee } from "./names-known-since.ts";
import { policySettings } from "./policy-settings.ts";
import { type Stage, type StageOptions, toStage } from "./stage.ts";

export interface ExecutorProcessOptions extends StageOptions {
  /** The directory of this process alone, for the runs of the local engine. */
  readonly directory: string;
}

/** Starts the executor with the configured engines. */
export async function openExecutor(options: ExecutorProcessOptions): Promise<Stage> {
  const { config } = options.loaded;
  const { execution } = config;
  const runner = execution.engines.includes("local") ? await openRunner(options) : undefined;
  const engines = createEngines(options);
  await reportEngineProblems(engines, options);
  const { kinds, close: closeKinds } = openKinds(options);
  const executor = startExecutor({
    ...options,
    kinds,
    engines,
    namespace: execution.namespace,
    defaults: {
      engine: execution.engine,
      serviceAccountName: execution.serviceAccount,
      timeoutMs: execution.timeoutMs,
      cooldownMs: execution.cooldownMs,
      allowOutsideCatalog: execution.allowOutsideCatalog,
    },
    catalogNamespace: execution.catalogNamespace,
    settings: {
      ...policySettings(config),
      runTtlMs: execution.runTtlMs,
      retentionMs: execution.retentionMs,
      targetRetentionMs: execution.targetRetentionMs,
      incidentsNamespace: config.gateway.namespace,
    },
    acknowledgersKnownSince: (signal) => nameGuarantee(options, ackIdentity(placesIn(config)), signal),
    concurrency: execution.concurrency,
  });
  return toStage(executor, async () => {
    await executor.stop({ deadlineMs: 5_000 });
    closeKinds();
    await runner?.stop();
  });
}

export function placesIn({ locks, gateway, execution, agent, watermarks }: Config): Places {
  return {
    locks: locks.namespace,
    watermarks: watermarks.namespace,
    incidents: gateway.namespace,
    runs: execution.namespace,
    agents: agent.jobNamespace,
  };
}

function createEngines({ client, loaded }: ExecutorProcessOptions): readonly Engine[] {
  const { execution } = loaded.config;
  const make = {
    tekton: () => tektonEngine(client),
    job: () => jobEngine(client),
    local: () =>
      localEngine({
        client,
        workflowsRoot: execution.workflowsDir,
        stepsHaveKubeconfig: execution.localKubeconfig !== undefined,
      }),
  };
  return execution.engines.map((name) => make[name]());
}

async function openRunner({ loaded, directory, ...parts }: ExecutorProcessOptions) {
  const { namespace, workflowsDir, localKubeconfig } = loaded.config.execution;
  return startLocalRunner({
    ...parts,
    namespace,
    workflowsRoot: workflowsDir,
    dataDir: localRunsFolder(loaded.config.execution, directory),
    env: {
      ...(await commandEnvironment(join(directory, "bin"))),
      ...(localKubeconfig && { KUBECONFIG: resolve(localKubeconfig) }),
    },
  });
}
