import { prepare } from "../../../src/app/index.ts";
import { fromKubeconfig, httpClient, type KubeClient, namespaces } from "../../../src/kube/index.ts";
import { executionNamespace, workflowExecutions } from "../../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";
import { type Behaviours, startControllers } from "../../doubles/controllers-process.ts";
import { recordingLogger } from "../../doubles/recording-logger.ts";
import { startApiServer } from "../../services/api-server.ts";
import { until } from "./until.ts";

/** A cluster to play in. */
export interface Place {
  readonly kubeconfigFile: string;
  readonly client: KubeClient;
  /** Of executions. */
  readonly namespace: string;
  readonly runsNamespace: string;
  /** Removes what executors have to remove themselves, while they still run. */
  clear(): Promise<void>;
  leave(): Promise<void>;
}

/** An `interlock api` and, if any behaviours are given, both controllers: each a process of its own. */
export async function ownPlace(program: string, behaviours: Behaviours | undefined): Promise<Place> {
  const api = await startApiServer({ program });
  const { kubeconfigFile } = api;
  const controllers = behaviours && (await startControllers(kubeconfigFile, behaviours));
  const client = await clientOf(kubeconfigFile);
  await prepare(client, [executionNamespace], { log: recordingLogger(), clock: systemClock() });
  return {
    kubeconfigFile,
    client,
    namespace: "default",
    runsNamespace: executionNamespace,
    async clear() {},
    async leave() {
      await controllers?.stop();
      await api.stop();
    },
  };
}

/** A real cluster: two namespaces of our own in it, and our definitions if they are not there. */
export async function borrowedPlace(kubeconfigFile: string): Promise<Place> {
  const client = await clientOf(kubeconfigFile);
  const namespace = `interlock-test-${Date.now().toString(36)}`;
  const runsNamespace = `${namespace}-runs`;
  await prepare(client, [namespace, runsNamespace], { log: recordingLogger(), clock: systemClock() });
  return {
    kubeconfigFile,
    client,
    namespace,
    runsNamespace,
    async clear() {
      const { items } = await client.list(workflowExecutions, { namespace });
      for (const { metadata } of items)
        await client.delete(workflowExecutions, { namespace, name: metadata.name ?? "" });
      const left = async () => (await client.list(workflowExecutions, { namespace })).items.length;
      await until("executions are gone", async () => (await left()) === 0);
    },
    async leave() {
      for (const name of [namespace, runsNamespace]) await client.delete(namespaces, { name });
    },
  };
}

export async function clientOf(path: string): Promise<KubeClient> {
  return httpClient({
    connection: await fromKubeconfig({ path, env: process.env }),
    clock: systemClock(),
    random: systemRandom(),
  });
}
