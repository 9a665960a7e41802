import { join } from "node:path";
import { openApi } from "../../src/apiserver/api/open-api.ts";
import { embeddedClient } from "../../src/apiserver/index.ts";
import { freezeJson } from "../../src/apiserver/json/parse-json.ts";
import { openLogStore } from "../../src/apiserver/log/open-log-store.ts";
import type { ObjectStore } from "../../src/apiserver/object-store.ts";
import { tektonEngine } from "../../src/engines/index.ts";
import { type Executor, startExecutor } from "../../src/executor/index.ts";
import { type KubeClient, namespaces } from "../../src/kube/index.ts";
import { type Ledger, openFileLedger } from "../../src/ledger/index.ts";
import { defaultPolicy } from "../../src/policy/index.ts";
import {
  builtInKinds,
  executionNamespace,
  fixedKinds,
  installCrds,
  remediationWorkflows,
  type WorkflowExecution,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { promMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { type Counted, countingCalls } from "./counting-calls.ts";
import { InstantTekton } from "./instant-tekton.ts";

const retention = { retentionMs: 168 * 3_600_000, targetRetentionMs: 720 * 3_600_000 };

export const clock = systemClock();

/** An executor on a durable store and a durable ledger, with an engine whose runs end as soon as they begin. */
export interface Workbench {
  readonly client: KubeClient;
  readonly store: ObjectStore;
  readonly ledger: Ledger;
  readonly tekton: InstantTekton;
  /** What the executor asks of the API server. */
  readonly calls: Counted;
  /** Starts the executor; until then executions stay as they are. */
  start(): Promise<void>;
  create(name: string, target: string): Promise<WorkflowExecution>;
  close(): Promise<void>;
}

export async function openWorkbench(folder: string): Promise<Workbench> {
  const random = systemRandom();
  const store = await openLogStore({ directory: join(folder, "objects"), parse: freezeJson, clock });
  const api = await openApi({ store, clock, random });
  const client = embeddedClient(api);
  for (const name of ["default", executionNamespace]) {
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  await installCrds(client);
  const ledger = await openFileLedger({ directory: join(folder, "ledger"), writer: "bench", clock });
  const calls = countingCalls(client);
  const tekton = new InstantTekton(client, { clock, random });
  let executor: Executor | undefined;

  return {
    client,
    store,
    ledger,
    tekton,
    calls: calls.counted,
    async start() {
      await addWorkflow(client);
      executor = startExecutor({
        client: calls.client,
        engines: [tektonEngine(calls.client)],
        ledger,
        kinds: fixedKinds(builtInKinds),
        namespace: executionNamespace,
        // Without a cooldown the same target can be used again at once.
        defaults: {
          ...{ engine: "tekton", serviceAccountName: undefined, timeoutMs: 600_000, cooldownMs: 0 },
          allowOutsideCatalog: false,
        },
        catalogNamespace: "default",
        settings: { ...defaultPolicy, cooldownMs: 0, runTtlMs: 3_600_000, ...retention, incidentsNamespace: "default" },
        clock,
        random,
        log: silentLogger,
        metrics: promMetrics(),
      });
      await executor.ready;
    },
    async create(name, target) {
      const { apiVersion, kind } = workflowExecutions;
      const workflowRef = { workflowId: "cleanup", containerImage: "registry.invalid/cleanup:1" };
      const metadata = { name, namespace: "default" };
      const outcome = await client.create(workflowExecutions, {
        apiVersion,
        kind,
        metadata,
        spec: { workflowRef, targetResource: target },
      });
      if (outcome.kind !== "created") throw new Error(`${name} is there already`);
      return outcome.object;
    },
    async close() {
      await executor?.stop({ deadlineMs: 5_000 });
      tekton.stop();
      await ledger.close();
      api.close();
      await store.close();
    },
  };
}

/** What the executions run. */
async function addWorkflow(client: KubeClient): Promise<void> {
  const { apiVersion, kind } = remediationWorkflows;
  await client.create(remediationWorkflows, {
    apiVersion,
    kind,
    metadata: { name: "cleanup-1", namespace: "default" },
    spec: {
      ...{ workflowId: "cleanup", version: "1", description: "Removes old files.", pipeline: "workflow" },
      containerImage: "registry.invalid/cleanup:1",
    },
  });
}
